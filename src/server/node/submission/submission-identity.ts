/**
 * The identities under which a site takes updates: the one that a client counts, a name of its own,
 * or an idempotency key.
 */
import { OWNED_PREFIX } from '../../../correctable/idempotency-key.ts';
import { createHash } from 'node:crypto';
import type { InvocationContext } from '../../../correctable/binding.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Operation } from '../../../correctable/operation.ts';
import { isWellFormed } from '../../../protocol/codec/tagged-values.ts';
import { omitDefaults } from './omit-defaults.ts';
import { ParsedOperation } from '../../../contract/operation-registry.ts';
import { toCanonicalString } from '../../../values/canonical-string.ts';
import {
  KEYED,
  formatKeyedOperationId,
  formatOperationId as operationIdOf,
} from '../../site/core/operation-id.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import { MAX_CLIENT_LENGTH } from '../../service/records/retention-limits.ts';
import type { SubmissionIdentity } from '../../site/core/submissions.ts';
import type { OperationPlan } from '../../service/operation-plan.ts';

/** The site that receives an operation, and the table of its deployment. */
interface ReceivingSite {
  readonly site: Origin;
  readonly origins: Origins;
}

/**
 * Returns the identity under which the operation may be submitted again. It is `undefined` if it
 * never is.
 */
export function createIdentity(
  context: InvocationContext,
  operation: Operation,
  plan: OperationPlan,
  receiver: ReceivingSite,
): SubmissionIdentity | undefined {
  const { site, origins } = receiver;
  const { origin, idempotencyKey } = context;
  if (idempotencyKey !== undefined)
    return {
      ...createKeyedIdentity(idempotencyKey, operation, plan, receiver),
      hasMoved: (origin?.hop ?? 0) > 0,
    };
  if (origin === undefined) {
    const { operationId } = context;
    return operationId === undefined ? undefined : createOpaqueIdentity(operationId, site);
  }
  const { client, sequence, acknowledged, home, hop = 0 } = origin;
  const homeSite = home === undefined ? site : origins.findHome(home);
  // Messages are created only if they are needed, because this runs for every update.
  if (!isName(client)) invalidIdentityError('client', `must be a non-empty string of ${NAME_RULE}`);
  if (client.startsWith(UNOWNED_PREFIX) || client.startsWith(KEYED)) {
    invalidIdentityError(
      'client',
      'must not begin with U+0000 or U+0001, as names of operations without one do',
    );
  }
  if (!isCount(sequence) || sequence < 1)
    invalidIdentityError('sequence', 'must be an integer from 1 on');
  if (!isCount(acknowledged)) invalidIdentityError('acknowledged', 'must be an integer');
  if (!isCount(hop)) invalidIdentityError('hop', 'must be an integer from 0 on');
  if (homeSite === undefined)
    invalidIdentityError(
      'home',
      `must be one of ${origins.names.join(', ')}, not '${String(home)}'`,
    );
  if (hop === 0 && homeSite !== site) {
    invalidIdentityError('hop', `must count the moves from ${String(home)} to here, so at least 1`);
  }
  return {
    id: operationIdOf(client, sequence),
    home: homeSite,
    hop,
    acknowledged,
  };
}

/**
 * The prefix of names of operations that come without a client. A client of the same name has
 * operations of its own.
 */
const UNOWNED_PREFIX = '\u0000';

/**
 * The home of the operation is the site that gets it. An operation of the same name at another site
 * is another one.
 */
function createOpaqueIdentity(name: unknown, site: Origin): SubmissionIdentity {
  if (!isName(name)) {
    const value = typeof name === 'string' ? `one of ${name.length}` : String(name);
    const message = `operationId must be a non-empty string of ${NAME_RULE}, not ${value}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'context.operationId',
    });
  }
  return {
    id: operationIdOf(UNOWNED_PREFIX + name, 1),
    home: site,
    hop: 0,
    acknowledged: 0,
  };
}

/**
 * The number of bytes of a SHA-256 that are used. They are enough to distinguish the uses of one
 * key.
 */
const VARIANT_BYTES = 6;

/**
 * The home of the operation follows from the key, and is the same at all sites. So the operation is
 * executed once in the deployment. It counts as moved, because another site may have got it before.
 */
function createKeyedIdentity(
  key: string,
  operation: Operation,
  plan: OperationPlan,
  { origins: { sites, founderCount } }: ReceivingSite,
): SubmissionIdentity {
  const given = omitDefaults(plan.args, ParsedOperation.getInput(operation));
  const args = toCanonicalString(given, { isLoose: true, maxParts: Infinity });
  if (!isName(key) || args === undefined) {
    const message = `idempotencyKey: give a non-empty string of ${NAME_RULE}, and arguments of at most 100 levels of plain data.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'context.idempotencyKey',
    });
  }
  const variant = 1 + hashText(`${operation.name} ${args}`);
  // The home is one of the first sites, whose number never changes. Otherwise a site that joins
  // would move keys, and their operations would be executed once more.
  const stored = toStoredKey(key);
  const home = sites[hashText(stored) % founderCount]!;
  return {
    id: formatKeyedOperationId(stored, variant),
    home,
    hop: 1,
    acknowledged: 0,
  };
}

/**
 * Returns the key as logs and checkpoints have it. There a key that came over the network begins
 * with U+0000. It must stay so: otherwise a retry after an upgrade would be executed once more.
 */
function toStoredKey(key: string): string {
  return key.startsWith(OWNED_PREFIX) ? `\0${key.slice(OWNED_PREFIX.length)}` : key;
}

function hashText(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, VARIANT_BYTES);
}

const NAME_RULE = `whole characters, ${MAX_CLIENT_LENGTH} at most`;

function isName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_CLIENT_LENGTH &&
    isWellFormed(value)
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function invalidIdentityError(name: string, problem: string): never {
  throw new CorrectableError('INVALID_ARGUMENT', `origin.${name} ${problem}.`, {
    field: `context.origin.${name}`,
  });
}
