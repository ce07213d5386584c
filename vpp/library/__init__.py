"""The library behind `vpp.fit`, `vpp.weigh`, `vpp.load_run` and `vpp.trial`, and the estimators for scikit-learn."""
