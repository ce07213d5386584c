# The app and the command line: docker build -t vpp . && docker run --rm -p 127.0.0.1:8501:8501 -v vpp-runs:/runs vpp
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements.txt requirements-login.txt ./
RUN python -m venv /opt/vpp \
    && /opt/vpp/bin/pip install --no-cache-dir --require-hashes -r requirements.txt -r requirements-login.txt
COPY pyproject.toml README.md LICENSE app.py ./
COPY .streamlit .streamlit
COPY static static
COPY assets assets
COPY pages pages
COPY vpp vpp
RUN /opt/vpp/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 vpp && install --directory --owner vpp /runs
COPY --from=build /opt/vpp /opt/vpp
ENV PATH=/opt/vpp/bin:$PATH PYTHONUNBUFFERED=1 VPP_RUNS_DIR=/runs
USER 10001
WORKDIR /home/vpp
VOLUME /runs
EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=3)"]
ENTRYPOINT ["vpp"]
CMD ["app", "--host", "0.0.0.0"]
