/** Counts the views that go back on replicas that fall behind, with sessions and without. */
import { migrations } from 'correctables/bindings/postgres';
import { usePostgres } from '../../engines/postgres/engine.ts';
import { readPostgresVersion } from '../../engines/postgres/programs.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionsOf } from '../harness/provenance.ts';
import { computeSessionGoals, sumSessions, type SessionSample } from './goals.ts';
import { runSessionHistory } from './session-history.ts';

export const postgresSessions: Bench = {
  name: 'postgres-sessions',
  about:
    'reads in sessions on PostgreSQL replicas whose replay is paused at random: how many views go back',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const [rounds, reads] = quick ? [1, 2_000] : [5, 10_000];
  const { servers, stop } = await usePostgres({}, progress);
  const samples: SessionSample[] = [];
  try {
    await servers.query('primary', migrations());
    await Promise.all(servers.replicas.map(({ name }) => servers.untilCaughtUp(name)));
    for (let seed = 1; seed <= rounds; seed += 1)
      for (const hasSessions of [true, false]) {
        const name = hasSessions ? 'with sessions' : 'without sessions';
        progress(`${name}, round ${seed} of ${rounds}`);
        // The checker needs few reads to find that sessions are off.
        const options = {
          name: `${name} ${seed}`,
          seed,
          hasSessions,
          reads: hasSessions ? reads : reads / 5,
        };
        samples.push({ seed, hasSessions, ...(await runSessionHistory(servers, options)) });
      }
  } finally {
    await stop();
  }
  return {
    versions: { postgres: await readPostgresVersion(), ...versionsOf('pg') },
    rounds,
    rows: [true, false].map((hasSessions) => sumSessions(hasSessions, samples)),
    bars: computeSessionGoals(samples),
    samples,
  };
}
