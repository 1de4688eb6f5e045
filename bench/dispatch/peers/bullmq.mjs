// BullMQ on Redis. Settings: workers, concurrency; limiter for a pace.
import { Queue, Worker } from 'bullmq';
import { NAME, handle, run, settings } from './common.mjs';

const { hostname: host, port } = new URL(settings.url);
const connection = { host, port: Number(port), maxRetriesPerRequest: null };
const queue = new Queue(NAME, { connection });

await run({
  put: (payloads) => queue.addBulk(payloads.map((data) => ({ name: NAME, data }))),
  left: async () => Object.values(await queue.getJobCounts('wait', 'active', 'delayed')).reduce((a, b) => a + b),
  work: () => {
    for (let i = 0; i < settings.workers; i++) {
      const { concurrency, limiter } = settings;
      new Worker(NAME, async () => handle(), { connection, concurrency, limiter, removeOnComplete: { count: 0 } });
    }
  },
});
