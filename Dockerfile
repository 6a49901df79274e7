# A machine of a cluster, or a whole environment: see docs/scale.md.
#   docker build -t gomoku .                                       with the usual torch, for GPUs
#   docker build -t gomoku --build-arg TORCH_INDEX=ADDRESS .       for processors: the address of PyTorch's CPU index
FROM python:3.12-slim

ARG TORCH_INDEX=
WORKDIR /opt/gomoku
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY core core
COPY search search
COPY nets nets
COPY curriculum curriculum
COPY gomoku_cli gomoku_cli
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --no-cache-dir --constraint constraints.txt torch --index-url "$TORCH_INDEX"; \
    fi \
    && pip install --no-cache-dir --constraint constraints.txt '.[ray]' \
    && gomoku warmup
ENTRYPOINT []
CMD ["gomoku", "--help"]
