// graphile-worker on PostgreSQL. Settings: concurrentJobs, maxPoolSize, localQueue, completeJobBatchDelay.
import { Logger, makeWorkerUtils, run as runWorkers } from 'graphile-worker';
import pg from 'pg';
import { NAME, handle, run, settings } from './common.mjs';

const logger = new Logger(() => () => {});
const pool = new pg.Pool({ connectionString: settings.url, max: 1 });
let utils;

await run({
  open: async () => {
    utils = await makeWorkerUtils({ connectionString: settings.url, logger });
    await utils.migrate();
  },
  put: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: NAME, payload }))),
  left: async () => Number((await pool.query('SELECT count(*) FROM graphile_worker._private_jobs')).rows[0].count),
  work: () => {
    const { concurrentJobs, maxPoolSize, localQueue, completeJobBatchDelay } = settings;
    return runWorkers({
      taskList: { [NAME]: async () => handle() },
      preset: {
        worker: {
          connectionString: settings.url, logger, concurrentJobs, maxPoolSize, localQueue, completeJobBatchDelay,
          failJobBatchDelay: completeJobBatchDelay,
        },
      },
    });
  },
});
