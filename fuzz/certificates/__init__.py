"""Mutations of true certificates and systematic forgeries, all sealed again, judged by soundness: no bound above a model."""
