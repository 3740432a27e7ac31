/**
 * `npm run engines -- up zookeeper`: one ensemble, with or without the wide area between its
 * servers.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { oneOf, type Engine, type UpOptions } from '../engine.ts';
import { UsageError } from '../usage-error.ts';
import { forgetState, readState, runFolder, writeState } from '../folders.ts';
import { SITES, WANS } from '../wan.ts';
import { whenInterrupted } from '../when-interrupted.ts';
import { Ensemble, type EnsembleState } from './ensemble.ts';
import type { LayoutOptions } from './layout.ts';

const NAME = 'zookeeper';

export const zookeeper: Engine = {
  name: NAME,
  about: 'Apache ZooKeeper: an ensemble in Ireland, Frankfurt and Virginia',
  options: [
    { flag: '--nodes <n>', about: '3 (default) or 1' },
    { flag: '--leader <site>', about: `The leader: ${SITES.join(', ')} (ireland unless given)` },
    {
      flag: '--wan <preset>',
      about: `Delays between the sites, clients included: ${WANS.join(', ')} (none unless given)`,
    },
    { flag: '--czk', about: 'Servers that give preliminary replies of their own (needs several)' },
  ],
  up,
  status,
  describe,
  down,
};

/** The ensemble that `up` started and that still runs, if there is one. */
export function runningEnsemble(): Ensemble | undefined {
  const state = readState<EnsembleState>(NAME);
  if (state === undefined) return undefined;
  const ensemble = new Ensemble(state);
  return ensemble.sites.every((site) => ensemble.isRunning(site)) ? ensemble : undefined;
}

/** An ensemble to use, and how to be done with it. */
export interface UsedEnsemble {
  readonly ensemble: Ensemble;
  /** Stops it if it was started for us. */
  readonly stop: () => Promise<void>;
}

/** The ensemble of `up` if it is of this kind; otherwise one for the caller alone. */
export async function useEnsemble(
  { nodes = 3, leader = 'ireland', wan = 'none', czk }: Partial<LayoutOptions>,
  progress: (text: string) => void,
): Promise<UsedEnsemble> {
  const options = { nodes, leader, wan, ...(czk !== undefined && { czk }) };
  const running = runningEnsemble();
  if (running !== undefined && isLike(running, options)) {
    progress(`using the ZooKeeper ensemble that runs (leader ${leader}, delays: ${wan})`);
    return { ensemble: running, stop: async () => {} };
  }
  const folder = join(runFolder(NAME), `${process.pid}-${leader}-${wan}`);
  progress(`starting a ZooKeeper ensemble (leader ${leader}, delays: ${wan})`);
  const ensemble = await Ensemble.start({ ...options, folder, progress });
  const forget = whenInterrupted(() => ensemble.stop());
  const stop = async (): Promise<void> => {
    forget();
    await ensemble.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ensemble, stop };
}

async function up(value: UpOptions, progress: (text: string) => void): Promise<void> {
  const options = checked(value);
  const running = runningEnsemble();
  if (running !== undefined && isLike(running, options)) {
    progress('runs already');
    return report(running, progress);
  }
  if (await down()) progress('stopped the one that ran with other options, or in part');
  const ensemble = await Ensemble.start({
    ...options,
    folder: join(runFolder(NAME), 'ensemble'),
    progress,
  });
  writeState(NAME, ensemble.state);
  await report(ensemble, progress);
}

async function status(): Promise<readonly string[]> {
  const state = readState<EnsembleState>(NAME);
  if (state === undefined) return [];
  const ensemble = new Ensemble(state);
  const modes = await ensemble.modes();
  return ensemble.sites.map((site) => {
    const part = modes[site] ?? (ensemble.isRunning(site) ? 'not serving' : 'down');
    return `${site} ${ensemble.address(site)} ${part}, delays: ${state.layout.wan}`;
  });
}

/**
 * What a program needs that uses the ensemble which is up: its state, and where clients of each
 * site connect.
 */
function describe(): unknown {
  const state = readState<EnsembleState>(NAME);
  if (state === undefined) return undefined;
  const ensemble = new Ensemble(state);
  return {
    ...state,
    connectStrings: Object.fromEntries(SITES.map((site) => [site, ensemble.connectString(site)])),
  };
}

async function down(): Promise<boolean> {
  const state = readState<EnsembleState>(NAME);
  if (state === undefined) return false;
  await new Ensemble(state).stop();
  forgetState(NAME);
  return true;
}

function checked(options: UpOptions): LayoutOptions {
  const nodes = Number(oneOf(options, 'nodes', { allowed: ['1', '3'], unlessGiven: '3' }));
  const leader = oneOf(options, 'leader', { allowed: SITES, unlessGiven: 'ireland' });
  const wan = oneOf(options, 'wan', { allowed: WANS, unlessGiven: 'none' });
  if (nodes === 1 && wan !== 'none')
    throw new UsageError('--wan needs several servers: leave out --nodes 1');
  const czk = options['czk'] === true;
  if (nodes === 1 && czk) throw new UsageError('--czk needs several servers: leave out --nodes 1');
  return { nodes: nodes === 1 ? 1 : 3, leader, wan, czk };
}

/** Whether an ensemble is of this kind; where `czk` is not said, either will do. */
function isLike(ensemble: Ensemble, { nodes, leader, wan, czk }: LayoutOptions): boolean {
  const { layout, czk: jar } = ensemble.state;
  const isSame = layout.nodes.length === nodes && layout.leader === leader && layout.wan === wan;
  return isSame && (czk === undefined || czk === (jar !== undefined));
}

async function report(ensemble: Ensemble, progress: (text: string) => void): Promise<void> {
  for (const line of await status()) progress(line);
  for (const site of ensemble.sites)
    progress(`beside ${site}, connect to ${ensemble.connectString(site)}`);
  progress(`logs and data: ${ensemble.state.folder}`);
}
