/** Submits equal reads in flight only once (COR-15). */
import { deriveSource } from '../correctable/derived-source.ts';
import type { Environment } from '../correctable/environment.ts';
import { check } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';
import type { Policy, SubmitFunction } from '../correctable/policy.ts';
import type { Source } from '../correctable/source.ts';
import { addCleanUp } from '../correctable/source.ts';
import { toCanonicalString } from '../values/canonical-string.ts';
import { getPrincipal, submitOrFail, forwardViews } from './forward-views.ts';

/**
 * Lets a read of a client share the views of one in flight: of the same operation, for the same
 * levels, with equal arguments. Arguments must be plain data, and count as they were when
 * submitted. A later read gets the latest view first. Each read has its own timeout and signal. The
 * submission is cancelled with the last of them.
 *
 * So a read may get a value from before its call, at every level. This does not hold across the
 * client's own updates. Once one is submitted, or has ended, no read joins those from before. Reads
 * in a session, which promises an order, are submitted by themselves. So are reads with timeouts
 * for single levels. No read joins that of another principal. All get the same value: do not change
 * it.
 *
 * @example
 * const store = createClient(binding, { dedupeReads: dedupeReads() });
 * const [header, sidebar] = [
 *   store.invoke(get('user:7')),
 *   store.invoke(get('user:7')),
 * ]; // one submission
 * const fresh = store.invoke(get('user:7'), { dedupeReads: false }); // another
 */
export function dedupeReads(...options: readonly []): Policy {
  // A program may have passed the function to the client without calling it.
  check(options.length === 0, 'options', 'there are none: write dedupeReads()');
  const clients = new WeakMap<Environment, InFlightReads>();
  return (submit) => dedupeSubmit(submit, clients);
}

/** Reads by name, key, levels, and the arguments at the time of the call. */
type InFlightReads = Map<string, Source<unknown>>;

function dedupeSubmit(
  submit: SubmitFunction,
  clients: WeakMap<Environment, InFlightReads>,
): SubmitFunction {
  return <T>(operation: Operation<T>, source: Source<T>): void => {
    let inFlight = clients.get(source.environment);
    if (!inFlight) clients.set(source.environment, (inFlight = new Map()));
    if (operation.access === 'write') {
      inFlight.clear();
      addCleanUp(source, () => inFlight.clear());
    }
    if (operation.access === 'write' || source.session || source.levelSignals)
      return submit(operation, source);
    const args = toCanonicalString(operation.args);
    if (args === undefined) return submit(operation, source);
    const id = JSON.stringify([
      getPrincipal(source),
      operation.name,
      operation.key,
      source.levelOrder.requested,
      args,
    ]);
    const equal = inFlight.get(id) as Source<T> | undefined;
    if (equal) {
      source.environment.count('deduped');
      joinRead(inFlight, id, equal, source);
    } else {
      const own = deriveSource<T, T>(source);
      own.dueAt = undefined;
      own.trace = source.trace;
      // Kept until the read closes.
      inFlight.set(id, own as Source<unknown>);
      addCleanUp(own, () => removeRead(inFlight, id, own));
      joinRead(inFlight, id, own, source);
      submitOrFail(submit, operation, own);
    }
  };
}

function joinRead<T>(
  inFlight: InFlightReads,
  id: string,
  shared: Source<T>,
  follower: Source<T>,
): void {
  forwardViews(shared, follower, (error) => follower.fail(error));
  // A follower has waited in vain, so the reply may be lost. Later callers do not wait for it.
  addCleanUp(follower, () => {
    if (follower.state === 'error' && follower.extras?.error?.code !== 'ABORTED')
      removeRead(inFlight, id, shared);
  });
}

/** Removes the read, unless another one has replaced it. */
function removeRead<T>(inFlight: InFlightReads, id: string, source: Source<T>): void {
  if (inFlight.get(id) === source) inFlight.delete(id);
}
