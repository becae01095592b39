"""Mutations of true certificates and systematic forgeries, all sealed anew, judged by soundness: no bound above a model."""
