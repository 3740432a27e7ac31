/** One submission for equal reads under way (C15). */
import { derive } from '../correctable/derive.ts';
import type { Environment } from '../correctable/environment.ts';
import { check } from '../correctable/errors.ts';
import type { Operation } from '../correctable/operation.ts';
import type { Policy, Submit } from '../correctable/policy.ts';
import type { Source } from '../correctable/source.ts';
import { onClose } from '../correctable/source.ts';
import { writeOut } from '../values/text.ts';
import { askerOf, begin, passOn } from './pass-on.ts';

/**
 * Lets a read of a client have the views of one that is under way: of the same operation, for the same levels, with
 * equal arguments: plain data, as it was when submitted. Whoever comes later is told the latest view first. Each has a
 * time limit and a signal of its own; the submission is given up with the last of them.
 *
 * So a read may be told what was so before it was asked, at every level. Of the client's own updates it is not: once one
 * is submitted, or has come to an end, no read joins those from before. Reads in a session, which promises an order, and
 * those with time limits for single levels are submitted by themselves; none joins that of another principal. All get the
 * same value: do not change it.
 *
 * @example
 * const store = createClient(binding, { shareReads: sharedReads() });
 * const [header, sidebar] = [store.invoke(get('user:7')), store.invoke(get('user:7'))]; // one submission
 * const fresh = store.invoke(get('user:7'), { shareReads: false }); // another
 */
export function sharedReads(...given: readonly []): Policy {
  // It may have been given to the client without being called.
  check(given.length === 0, 'options', 'there are none: write sharedReads()');
  const clients = new WeakMap<Environment, UnderWay>();
  return (submit) => share(submit, clients);
}

/** By name, key, levels, and the arguments as they were. */
type UnderWay = Map<string, Source<unknown>>;

function share(submit: Submit, clients: WeakMap<Environment, UnderWay>): Submit {
  return <T>(operation: Operation<T>, source: Source<T>): void => {
    let underWay = clients.get(source.environment);
    if (!underWay) clients.set(source.environment, (underWay = new Map()));
    if (operation.effect === 'update') {
      underWay.clear();
      onClose(source, () => underWay.clear());
    }
    if (operation.effect === 'update' || source.session || source.levelSignals) return submit(operation, source);
    const args = writeOut(operation.args);
    if (args === undefined) return submit(operation, source);
    const id = JSON.stringify([askerOf(source), operation.name, operation.key, source.ladder.requested, args]);
    const equal = underWay.get(id) as Source<T> | undefined;
    if (equal) {
      source.environment.count('shared');
      follow(underWay, id, equal, source);
    } else {
      const own = derive<T, T>(source);
      own.dueAt = undefined;
      own.trace = source.trace;
      // Kept until it closes.
      underWay.set(id, own as Source<unknown>);
      onClose(own, () => remove(underWay, id, own));
      follow(underWay, id, own, source);
      begin(submit, operation, own);
    }
  };
}

function follow<T>(underWay: UnderWay, id: string, shared: Source<T>, follower: Source<T>): void {
  passOn(shared, follower, (error) => follower.fail(error));
  // An answer that one has waited for in vain may be lost: nobody who comes later waits for it.
  onClose(follower, () => {
    if (follower.state === 'error' && follower.extras?.error?.code !== 'ABORTED') remove(underWay, id, shared);
  });
}

/** Another may have come in its place. */
function remove<T>(underWay: UnderWay, id: string, source: Source<T>): void {
  if (underWay.get(id) === source) underWay.delete(id);
}
