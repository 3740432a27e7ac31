/** What a visitor of the page can choose. Tests run each of the faults with its seed. */
import { MAX_SEED } from '../../src/server/service/collections/random.ts';
import type { Profile } from '../../src/testing/simulator/options.ts';

/** A run that a worker is asked for. `fault` is the name of a planted fault. */
export interface RunRequest {
  readonly seed: number;
  readonly profile: Profile;
  readonly fault?: string | undefined;
}

interface ProfileChoice {
  readonly profile: Profile;
  readonly label: string;
}

export const PROFILE_CHOICES: readonly ProfileChoice[] = [
  { profile: 'calm', label: 'calm: only delays' },
  { profile: 'lossy', label: 'lossy: messages are lost and repeated' },
  { profile: 'partitions', label: 'partitions: links are cut' },
  { profile: 'crashes', label: 'crashes: sites crash, disks fill up' },
  { profile: 'moves', label: 'moves: clients change sites, under crashes and partitions' },
  { profile: 'loss', label: 'loss: a site is lost for good' },
  { profile: 'swarm', label: 'swarm: a mix of all faults' },
];

/** The run that the page begins with. */
export const FIRST_RUN: RunRequest = { profile: 'partitions', seed: 197 };

/** A planted fault, and a seed that shows it. */
export interface FaultChoice {
  readonly fault: string;
  readonly label: string;
  /** What the fault does, for a reader who does not know the protocol. */
  readonly explanation: string;
  readonly profile: Profile;
  readonly seed: number;
}

export const FAULT_CHOICES: readonly FaultChoice[] = [
  {
    fault: 'no-gate',
    label: 'Red operations do not wait for what they depend on',
    explanation:
      'Blue and red operations reach a site by different ways. With this fault, a site shows a red operation before ' +
      'the blue ones that it depends on have arrived, so its clients see an effect without its cause.',
    profile: 'partitions',
    seed: 6,
  },
  {
    fault: 'blue-before-its-causes',
    label: 'Blue operations do not wait either',
    explanation:
      'With this fault, a site shows a blue operation as soon as it arrives. The operations that it depends on may ' +
      'still be on their way from other sites.',
    profile: 'lossy',
    seed: 3,
  },
  {
    fault: 'all-blue-bank',
    label: 'Withdrawals are blue',
    explanation:
      'Two sites confirm blue withdrawals from one account without asking each other. Each of them sees enough money, ' +
      'and together they take more than there is.',
    profile: 'calm',
    seed: 12,
  },
  {
    fault: 'no-phantoms',
    label: 'Certification ignores scans',
    explanation:
      'A client scans the seats, sees that one is free, and reserves it. With this fault, certification does not notice ' +
      'a reservation that was added to the scanned rows meanwhile, so two clients get the same seat.',
    profile: 'calm',
    seed: 12,
  },
  {
    fault: 'swapped-records',
    label: 'A site swaps two entries of the red log',
    explanation:
      'One site applies two entries of the red log in the wrong order. Its values may then differ from those of the ' +
      'other sites.',
    profile: 'calm',
    seed: 6,
  },
  {
    fault: 'rights-created',
    label: 'A transfer of rights takes effect twice',
    explanation:
      'With rights, a site takes its share of a pool without asking the others. With this fault, a transfer of rights ' +
      'counts twice, so the sites together can take more than the pool has.',
    profile: 'lossy',
    seed: 2,
  },
  {
    fault: 'restart-forgets-slots',
    label: 'A restart forgets what it has answered',
    explanation:
      'A client sends an operation again if it gets no answer. With this fault, a site that has restarted does not ' +
      'recognize an operation that it has already applied, and applies it twice.',
    profile: 'crashes',
    seed: 3,
  },
  {
    fault: 'no-sessions',
    label: 'Sites ignore what a session has seen',
    explanation:
      'A client moves to another site. With this fault, that site does not wait until it has what the client has ' +
      'already seen, so the client sees older values.',
    profile: 'moves',
    seed: 2,
  },
];

/** Returns the run that the query of an address asks for, or the first run of the page. */
export function readRequest(query: string): RunRequest {
  const parameters = new URLSearchParams(query);
  const seed = Number(parameters.get('seed') || FIRST_RUN.seed);
  const fault = FAULT_CHOICES.find((choice) => choice.fault === parameters.get('fault'));
  const profile = PROFILE_CHOICES.find(
    (choice) => choice.profile === parameters.get('profile'),
  )?.profile;
  return {
    seed: isSeed(seed) ? seed : FIRST_RUN.seed,
    profile: fault?.profile ?? profile ?? FIRST_RUN.profile,
    fault: fault?.fault,
  };
}

export function formatRequest({ seed, profile, fault }: RunRequest): string {
  const parameters = new URLSearchParams({ profile, seed: String(seed) });
  if (fault !== undefined) parameters.set('fault', fault);
  return `?${parameters}`;
}

export function isSeed(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_SEED;
}
