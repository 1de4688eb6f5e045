// What the peers' programs share. Usage of each: node PROGRAM.mjs '{"url": …, "jobs": N, "processes": N, …}'
//
// The first process puts the jobs in, starts processes of workers, lets all of them go at once and stops the clock when
// nothing is left in the server. It prints {"seconds": S, "filled": S, "times": […]}; the times, in seconds by a clock
// that does not jump, are those of the handler's calls and come only with "note": true.
import { fork } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

export const settings = JSON.parse(process.argv[2]);
export const NAME = 'bench';
const PAYLOAD = { note: 'x'.repeat(285) };
const REPORT_MS = 20;

let handled = 0;
const times = [];

/** What the handlers do: nothing but this. */
export function handle(jobs = 1) {
  handled += jobs;
  if (settings.note) times.push(performance.now() / 1000);
}

/** Calls put(payloads) until all jobs are in. */
async function fill(put, batch = 5000) {
  for (let done = 0; done < settings.jobs; done += batch) {
    await put(Array(Math.min(batch, settings.jobs - done)).fill(PAYLOAD));
  }
}

async function lead({ put, left }) {
  const began = performance.now();
  await fill(put);
  const filled = (performance.now() - began) / 1000;
  const workers = Array.from({ length: settings.processes }, () => fork(process.argv[1], [process.argv[2]]));
  for (const worker of workers) {
    worker.handled = 0;
    worker.on('message', (message) => Object.assign(worker, message));
    worker.on('exit', () => process.exit(1)); // an error of its own, which it has printed
  }
  while (!workers.every((worker) => worker.ready)) await pause(REPORT_MS);

  const start = performance.now();
  for (const worker of workers) worker.send('go');
  while (workers.reduce((sum, worker) => sum + worker.handled, 0) < settings.jobs) await pause(1);
  while ((await left()) > 0) await pause(1); // handled is not yet marked as done
  const seconds = (performance.now() - start) / 1000;

  workers[0].send('times');
  while (!workers[0].times) await pause(1);
  const result = JSON.stringify({ seconds, filled, times: workers[0].times });
  process.stdout.write(result, () => process.exit(0)); // ends the workers too: their channel closes
}

function follow({ work }) {
  process.on('disconnect', () => process.exit(0));
  process.on('message', async (message) => {
    if (message === 'times') return process.send({ times });
    setInterval(() => process.send({ handled }), REPORT_MS);
    await work();
  });
  process.send({ ready: true });
}

/** put(payloads) adds jobs, left() counts those not done, work() starts the workers of one process. */
export async function run({ open, put, left, work }) {
  await open?.();
  await (process.send ? follow({ work }) : lead({ put, left }));
}
