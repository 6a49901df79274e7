# A machine of a cluster, or a whole environment: see docs/scale.md.
#   docker build -t gomoku .                                       with the usual torch, for GPUs
#   docker build -t gomoku --build-arg TORCH_INDEX=ADDRESS .       for processors: the address of PyTorch's CPU index
#
# The digest names one build of python:3.12-slim; `docker buildx imagetools inspect python:3.12-slim` shows that of today.
# Every package is checked against the hashes of requirements.lock, but the torch of TORCH_INDEX, whose files are others.
ARG BASE=python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
FROM ${BASE}

ARG TORCH_INDEX=
RUN useradd --create-home --uid 1000 gomoku
WORKDIR /opt/gomoku
COPY requirements.lock ./
RUN if [ -n "$TORCH_INDEX" ]; then \
        version=$(sed -n 's/^\(torch==[^ ;]*\).*/\1/p' requirements.lock) \
        && pip install --no-cache-dir --index-url "$TORCH_INDEX" "$version" \
        && awk '/^[a-z]/ { kept = !/^(torch|triton|nvidia-|cuda-)/ } kept' requirements.lock > chosen.lock; \
    else \
        cp requirements.lock chosen.lock; \
    fi \
    && pip install --no-cache-dir --require-hashes --no-deps --requirement chosen.lock
COPY pyproject.toml README.md LICENSE ./
COPY core core
COPY search search
COPY nets nets
COPY curriculum curriculum
COPY gomoku_cli gomoku_cli
# The build backend is pinned and hashed too, so nothing is downloaded here.
RUN pip install --no-cache-dir --no-deps --no-build-isolation .
USER gomoku
WORKDIR /home/gomoku
RUN gomoku warmup
ENTRYPOINT []
CMD ["gomoku", "--help"]
