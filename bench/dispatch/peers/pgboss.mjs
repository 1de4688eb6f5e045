// pg-boss on PostgreSQL. Settings: workers, batchSize.
import PgBoss from 'pg-boss';
import { NAME, handle, run, settings } from './common.mjs';

// No supervisor: no archiving and no monitoring while the clock runs. As many connections as workers.
const boss = new PgBoss({ connectionString: settings.url, max: settings.workers + 1, noSupervisor: true, noScheduling: true });
boss.on('error', (error) => { throw error; });

await run({
  open: () => boss.start(),
  put: (payloads) => boss.insert(payloads.map((data) => ({ name: NAME, data }))),
  left: async () => {
    const sql = `SELECT count(*) FROM pgboss.job WHERE name = '${NAME}' AND state < 'completed'`;
    return Number((await boss.db.executeSql(sql)).rows[0].count);
  },
  work: async () => {
    const { batchSize } = settings;
    for (let i = 0; i < settings.workers; i++) {
      await boss.work(NAME, { batchSize, newJobCheckInterval: 100 }, async (jobs) => handle(jobs.length)); // ms, the least
    }
  },
});
