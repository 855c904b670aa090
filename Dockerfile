# natsd as a container image: one static binary, nothing else, and a user without rights.
#
#   docker build -t natsd .
#   docker run -p 4222:4222 -p 8222:8222 natsd
FROM golang:1.26 AS build
ARG VERSION=
ARG REVISION=
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN version="${VERSION:-$(sed -n 's/^var version = "\(.*\)"/\1/p' server/version.go)}" && \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false \
      -ldflags "-s -w -X github.com/natsd/natsd/server.version=$version -X github.com/natsd/natsd/server.revision=$REVISION" \
      -o /natsd ./cmd/natsd && \
    mkdir -p /root.image/etc/natsd && cp packaging/container.conf /root.image/etc/natsd/natsd.conf && \
    ln -s natsd /root.image/nats-server

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /root.image /
COPY --from=build /natsd /natsd
USER 65532:65532
EXPOSE 4222 8222
# docker stop is a quick and orderly end. Lame duck mode, in which clients leave first, needs more time than docker stop gives
# by itself: docker stop --signal SIGUSR2 --timeout 150.
HEALTHCHECK --interval=10s --timeout=6s --start-period=5s CMD ["/natsd", "healthcheck", "http://127.0.0.1:8222/healthz"]
ENTRYPOINT ["/natsd"]
CMD ["-c", "/etc/natsd/natsd.conf"]
