/**
 * `npm run engines -- up NAME | status | down [NAME]`: the stores that the bindings speak to, on
 * this machine.
 */
import { cac } from 'cac';
import { EngineUnavailable, type Engine } from './engine.ts';
import { UsageError } from './usage-error.ts';
import { cassandra } from './cassandra/engine.ts';
import { etcd } from './etcd/engine.ts';
import { postgres } from './postgres/engine.ts';
import { redis } from './redis/engine.ts';
import { zookeeper } from './zookeeper/engine.ts';

const engines: readonly Engine[] = [cassandra, etcd, postgres, redis, zookeeper];

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const cli = cac('npm run engines --');
const up = cli.command(
  'up <engine>',
  engines.map(({ name, about }) => `${name}: ${about}`).join('; '),
);
// A flag may mean something to several engines.
for (const flag of new Set(
  engines.flatMap(({ options }) => options.map((option) => option.flag)),
)) {
  const users = engines.flatMap(({ name, options }) =>
    options.filter((option) => option.flag === flag).map(({ about }) => `${name}: ${about}`),
  );
  up.option(flag, users.join('; '));
}
up.action((name: string, options: Record<string, unknown>) => {
  const engine = engineOf(name);
  return engine.up(options, (text) => console.error(`${name}: ${text}`));
});
cli
  .command('status', 'What runs, and where')
  .option('--json', 'For a program: the state of each engine, null where it is down')
  .action(async ({ json }: { readonly json?: boolean }) => {
    if (json === true) {
      const states = engines.map((engine) => [engine.name, engine.describe() ?? null]);
      return console.log(JSON.stringify(Object.fromEntries(states), null, 2));
    }
    for (const engine of engines) await printStatus(engine);
  });
cli.command('down [engine]', 'Stops one, or all').action(async (name?: string) => {
  for (const engine of name === undefined ? engines : [engineOf(name)]) {
    console.log(`${engine.name}: ${(await engine.down()) ? 'stopped' : 'was down'}`);
  }
});
cli.help();

try {
  cli.parse(process.argv, { run: false });
  if (cli.options['help'] !== true) {
    if (cli.matchedCommand === undefined)
      throw new UsageError('say up, status or down; see --help');
    await cli.runMatchedCommand();
  }
} catch (error) {
  const isUsage = error instanceof UsageError || (error as Error).name === 'CACError';
  console.error(error instanceof EngineUnavailable || isUsage ? (error as Error).message : error);
  process.exitCode = isUsage ? EXIT_USAGE : EXIT_FAILED;
}
// Engines run in processes of their own: nothing that is left in this one is worth waiting for.
process.exit();

async function printStatus(engine: Engine): Promise<void> {
  const lines = await engine.status();
  for (const line of lines.length === 0 ? ['down'] : lines) console.log(`${engine.name}: ${line}`);
}

function engineOf(name: string): Engine {
  const engine = engines.find((item) => item.name === name);
  if (engine !== undefined) return engine;
  throw new UsageError(
    `there is no engine "${name}": there are ${engines.map((item) => item.name).join(', ')}`,
  );
}
