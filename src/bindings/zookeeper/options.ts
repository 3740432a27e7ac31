/** The options of a ZooKeeper binding. */
import { check, CorrectableError } from '../../correctable/errors.ts';
import {
  checkOptionTypes,
  checkOptionNames,
  hasMethods,
  isNonEmptyString,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import { checkCount, checkDuration } from '../shared/check-number.ts';
import { checkPath } from './client/path.ts';
import { parseConnectString } from './client/server-pool.ts';
import { jsonCodec, type ValueCodec } from './value-codec.ts';

/**
 * How to recover items whose consumer crashed between taking them and cleaning up, so that their
 * delivery is unknown. `at-most-once` drops them, `at-least-once` puts them back.
 */
export type DeliveryGuarantee = 'at-most-once' | 'at-least-once';

export interface ZooKeeperBindingOptions {
  /**
   * Addresses as `host:port,host:port/chroot`. The first one should be the nearest: it answers
   * preliminary views.
   */
  readonly servers: string;
  /** The node below which the binding keeps everything. Default: `/correctables`. */
  readonly root?: string | undefined;
  /** How long the ensemble keeps a session without messages, in milliseconds. Default: 12 000. */
  readonly sessionTimeoutMs?: number | undefined;
  /**
   * Maximum number of this binding's dequeues in flight in one queue; others wait. Other bindings
   * read the value: it bounds how many of these dequeues their estimates cannot include. Default:
   * 100.
   */
  readonly maxInFlight?: number | undefined;
  /**
   * How soon a slot of `maxInFlight` is reused, in milliseconds. Other bindings read this value
   * too. Set it if several bindings take from one queue. Without it, nothing bounds what they take
   * unknown to each other, and `getSafeThreshold` permits no early decision. Default: 0.
   */
  readonly minSlotIntervalMs?: number | undefined;
  /** Recovers the items of crashed consumers. Default: no recovery. */
  readonly orphanRecovery?: OrphanRecoveryOptions | undefined;
  /** Converts values to bytes and back. Default: JSON. */
  readonly codec?: ValueCodec | undefined;
  /** The identity of the client, for ACLs: `{ scheme: 'digest', secret: 'user:password' }`. */
  readonly auth?: { readonly scheme: string; readonly secret: string } | undefined;
  /**
   * Called with failures of background work: cleanup and the recovery of orphans. Also called if
   * the ensemble has lost what the binding has seen, and if it refuses `auth`. Default: a process
   * warning.
   */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
}

export interface OrphanRecoveryOptions {
  readonly delivery: DeliveryGuarantee;
  /** How often to look for orphans, in milliseconds. Default: 5 000. */
  readonly intervalMs?: number | undefined;
}

type Resolved<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

export type ResolvedBindingOptions = Resolved<
  Omit<ZooKeeperBindingOptions, 'orphanRecovery' | 'auth'>
> & {
  readonly orphanRecovery: Resolved<OrphanRecoveryOptions> | undefined;
  readonly auth: ZooKeeperBindingOptions['auth'];
};

const CALL = "zookeeper({ servers: '127.0.0.1:2181' })";

const OPTIONS: OptionNamesOf<ZooKeeperBindingOptions> = {
  servers: true,
  root: true,
  sessionTimeoutMs: true,
  maxInFlight: true,
  minSlotIntervalMs: true,
  orphanRecovery: true,
  codec: true,
  auth: true,
  onBackgroundError: true,
};

const ORPHAN_RECOVERY_OPTIONS: OptionNamesOf<OrphanRecoveryOptions> = {
  delivery: true,
  intervalMs: true,
};

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function resolveBindingOptions(options: ZooKeeperBindingOptions): ResolvedBindingOptions {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  checkOtherOptions(options);
  const { servers, root = '/correctables', orphanRecovery } = options;
  checkField('servers', () => parseConnectString(servers));
  checkField('root', () => checkPath(root));
  return {
    servers,
    root: root === '/' ? '' : root,
    sessionTimeoutMs: checkCount('sessionTimeoutMs', options.sessionTimeoutMs ?? 12_000),
    maxInFlight: checkCount('maxInFlight', options.maxInFlight ?? 100),
    minSlotIntervalMs: checkDuration('minSlotIntervalMs', options.minSlotIntervalMs ?? 0),
    orphanRecovery: orphanRecovery && {
      delivery: orphanRecovery.delivery,
      intervalMs: checkCount('orphanRecovery.intervalMs', orphanRecovery.intervalMs ?? 5_000),
    },
    codec: options.codec ?? jsonCodec,
    auth: options.auth,
    onBackgroundError: guard(options.onBackgroundError ?? warnUnhandled),
  };
}

function checkOtherOptions(options: ZooKeeperBindingOptions): void {
  const { servers, orphanRecovery, codec, auth } = options;
  check(
    isNonEmptyString(servers),
    'servers',
    `must be a text, the addresses separated by commas: write ${CALL}`,
  );
  const isCodec = codec === undefined || hasMethods(codec, 'encode', 'decode');
  check(isCodec, 'codec', 'must have encode and decode, as jsonCodec has, or be left out');
  const isAuth =
    auth === undefined || (isNonEmptyString(auth?.scheme) && isNonEmptyString(auth.secret));
  check(isAuth, 'auth', "must be { scheme: 'digest', secret: 'user:password' }, or none");
  checkOptionTypes(options, 'function', 'onBackgroundError');
  if (orphanRecovery === undefined) return;
  checkOptionNames(
    orphanRecovery,
    {
      call: "{ orphanRecovery: { delivery: 'at-least-once' } }",
      field: 'orphanRecovery',
    },
    ORPHAN_RECOVERY_OPTIONS,
  );
  checkDelivery(orphanRecovery.delivery, 'orphanRecovery.delivery');
}

/** @throws CorrectableError `INVALID_ARGUMENT` if it is no delivery guarantee */
export function checkDelivery(value: DeliveryGuarantee, field: string): void {
  const isDelivery = value === 'at-most-once' || value === 'at-least-once';
  check(isDelivery, field, "must be 'at-most-once' or 'at-least-once'");
}

function checkField(field: string, check: () => unknown): void {
  try {
    check();
  } catch (cause) {
    throw new CorrectableError('INVALID_ARGUMENT', `${field}: ${(cause as Error).message}`, {
      field,
      cause,
    });
  }
}

/** What the callback throws is a warning, so that background work continues. */
function guard(callback: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      callback(error);
    } catch (thrown) {
      warnUnhandled(thrown);
    }
  };
}

function warnUnhandled(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
