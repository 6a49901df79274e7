"""Runtimes that evaluate nets (OpenVINO, ONNX Runtime, torch, CUDA), and the evaluator that serves them to a search."""
