/** How a ZooKeeper binding is made. */
import { check, CorrectableError } from '../../correctable/errors.ts';
import { checkKinds, checkNamed, hasMethods, isName, type NamesOf } from '../../correctable/given.ts';
import { checkPath } from './client/path.ts';
import { parseConnectString } from './client/server-list.ts';
import { jsonCodec, type ValueCodec } from './values.ts';

/**
 * What becomes of items whose consumer died between taking them and cleaning up: nobody knows whether they were delivered.
 * `at-most-once` drops them, `at-least-once` puts them back.
 */
export type Delivery = 'at-most-once' | 'at-least-once';

export interface ZooKeeperBindingOptions {
  /** `host:port,host:port/chroot`: the nearest server first, which is the one that answers preliminary views. */
  readonly servers: string;
  /** The node below which everything is kept; `/correctables` unless given. */
  readonly root?: string;
  /** How long the ensemble keeps a session that it does not hear from, in milliseconds; 12 000 unless given. */
  readonly sessionTimeoutMs?: number;
  /**
   * Most dequeues of this binding under way at once in one queue; others wait. Other bindings are told: it bounds how many
   * of these dequeues their estimates cannot know of. 100 unless given.
   */
  readonly window?: number;
  /**
   * How soon a place of the window is used again, in milliseconds; others are told this too. Give it where several
   * bindings take from one queue: without it nothing bounds what they may take unknown to each other, and
   * `safeThreshold` lets nobody be told early. 0 unless given.
   */
  readonly turnMs?: number;
  /** Recovers the items of dead consumers; nobody does unless given. */
  readonly janitor?: JanitorOptions;
  /** How values become bytes; JSON unless given. */
  readonly codec?: ValueCodec;
  /** An identity to present, for ACLs: `{ scheme: 'digest', secret: 'user:password' }`. */
  readonly auth?: { readonly scheme: string; readonly secret: string };
  /** Gets failures of work that nobody waits for: cleaning up, the janitor. A process warning unless given. */
  readonly onBackgroundError?: (error: unknown) => void;
}

export interface JanitorOptions {
  readonly delivery: Delivery;
  /** How often to look, in milliseconds; 5 000 unless given. */
  readonly everyMs?: number;
}

export type ResolvedBindingOptions = Required<Omit<ZooKeeperBindingOptions, 'janitor' | 'auth'>> & {
  readonly janitor: Required<JanitorOptions> | undefined;
  readonly auth: ZooKeeperBindingOptions['auth'];
};

const CALL = "zookeeper({ servers: '127.0.0.1:2181' })";

const OPTIONS: NamesOf<ZooKeeperBindingOptions> = {
  servers: true,
  root: true,
  sessionTimeoutMs: true,
  window: true,
  turnMs: true,
  janitor: true,
  codec: true,
  auth: true,
  onBackgroundError: true,
};

const JANITOR_OPTIONS: NamesOf<JanitorOptions> = { delivery: true, everyMs: true };

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function resolveBindingOptions(options: ZooKeeperBindingOptions): ResolvedBindingOptions {
  checkNamed(options, { call: CALL }, OPTIONS);
  checkOthers(options);
  const { servers, root = '/correctables', janitor } = options;
  checked('servers', () => parseConnectString(servers));
  checked('root', () => checkPath(root));
  return {
    servers,
    root: root === '/' ? '' : root,
    sessionTimeoutMs: count('sessionTimeoutMs', options.sessionTimeoutMs ?? 12_000),
    window: count('window', options.window ?? 100),
    turnMs: duration('turnMs', options.turnMs ?? 0),
    janitor: janitor && { delivery: janitor.delivery, everyMs: count('janitor.everyMs', janitor.everyMs ?? 5_000) },
    codec: options.codec ?? jsonCodec,
    auth: options.auth,
    onBackgroundError: options.onBackgroundError ?? warn,
  };
}

function checkOthers(options: ZooKeeperBindingOptions): void {
  const { servers, janitor, codec, auth } = options;
  check(isName(servers), 'servers', `must be a text, the addresses separated by commas: write ${CALL}`);
  const isCodec = codec === undefined || hasMethods(codec, 'encode', 'decode');
  check(isCodec, 'codec', 'must have encode and decode, as jsonCodec has, or be left out');
  const isAuth = auth === undefined || (isName(auth?.scheme) && isName(auth.secret));
  check(isAuth, 'auth', "must be { scheme: 'digest', secret: 'user:password' }, or none");
  checkKinds(options, 'function', 'onBackgroundError');
  if (janitor === undefined) return;
  checkNamed(janitor, { call: "{ janitor: { delivery: 'at-least-once' } }", field: 'janitor' }, JANITOR_OPTIONS);
  requireDelivery(janitor.delivery, 'janitor.delivery');
}

/** @throws CorrectableError `INVALID_ARGUMENT` for what is none */
export function requireDelivery(given: Delivery, field: string): void {
  const isDelivery = given === 'at-most-once' || given === 'at-least-once';
  check(isDelivery, field, "must be 'at-most-once' or 'at-least-once'");
}

function checked(field: string, check: () => unknown): void {
  try {
    check();
  } catch (cause) {
    throw new CorrectableError('INVALID_ARGUMENT', `${field}: ${(cause as Error).message}`, { field, cause });
  }
}

function count(field: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new CorrectableError('INVALID_ARGUMENT', `${field}: give a whole number above 0`, { field });
}

function duration(field: string, value: number): number {
  if (typeof value === 'number' && value >= 0 && value < Infinity) return value;
  throw new CorrectableError('INVALID_ARGUMENT', `${field}: give a number of milliseconds, 0 or more`, { field });
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
