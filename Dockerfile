# syntax=docker/dockerfile:1

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && node prune-packages.mjs

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# The gateway needs more memory while it starts than afterwards. The two MALLOC settings make glibc return unused memory
# to the operating system. With the two MALLOC settings, an idle gateway process therefore uses about 30 MB less memory.
ENV MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/prisma/migrations ./prisma/migrations
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
# The health check does not use `fetch`, because `fetch` refuses some ports, such as 6000 and 10080.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "require('node:http').get(`http://127.0.0.1:${process.env.PORT}/livez`, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1))"]
# Node runs as process 1, without a shell, so that Node receives SIGTERM.
CMD ["node", "--enable-source-maps", "dist/server.js"]
