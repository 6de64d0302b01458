# Reelfeed in one image: the service, its database and FFmpeg. It runs as the user `reelfeed`.
#   docker build -t reelfeed .
#   docker run -p 4000:4000 -v reelfeed:/var/lib/reelfeed reelfeed
FROM node:24-bookworm-slim AS packages
WORKDIR /opt/reelfeed
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/
COPY client/package.json client/
COPY console/package.json console/
COPY player/package.json player/
COPY react-native/package.json react-native/
COPY bench/package.json bench/
COPY site/package.json site/
RUN npm ci --omit=dev

# Node comes with the packages, so the image needs none of its own.
FROM debian:bookworm-slim
# FFmpeg's whisper filter needs the Vulkan loader, also where there is no GPU.
RUN apt-get update && apt-get install -y --no-install-recommends libvulkan1 \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --home-dir /var/lib/reelfeed --create-home reelfeed
WORKDIR /opt/reelfeed
COPY --from=packages /opt/reelfeed/node_modules node_modules
COPY package.json LICENSE ./
COPY client client
COPY console/dist console/dist
COPY player/dist player/dist
COPY site/dist site/dist
COPY server server
ENV PATH=/opt/reelfeed/node_modules/.bin:$PATH \
    REELFEED_HOST=0.0.0.0 \
    REELFEED_DATA_DIR=/var/lib/reelfeed/data
USER reelfeed
VOLUME /var/lib/reelfeed
EXPOSE 4000
EXPOSE 1935
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=60s CMD ["node", "-e", "require(process.env.REELFEED_TLS_CERT ? 'https' : 'http').get({ host: '127.0.0.1', port: process.env.PORT || 4000, path: '/readyz', rejectUnauthorized: false }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "server/bin/reelfeed.js"]
CMD ["start"]
