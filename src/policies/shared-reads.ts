/** One submission for equal reads under way (C15). */
import { derive } from '../correctable/derive.ts';
import type { Environment } from '../correctable/environment.ts';
import { sketchOf, structurallyEqual } from '../correctable/equal.ts';
import { check } from '../correctable/errors.ts';
import { sameNames } from '../correctable/ladder.ts';
import type { Operation } from '../correctable/operation.ts';
import type { Policy, Submit } from '../correctable/policy.ts';
import type { Source } from '../correctable/source.ts';
import { onClose } from '../correctable/source.ts';
import { askerOf, begin, passOn } from './pass-on.ts';

/** A submission under way. */
interface Shared {
  readonly operation: Operation;
  readonly source: Source<unknown>;
  /** Who asks. */
  readonly asker: string | undefined;
}

/**
 * Lets a read of a client have the views of one that is under way: of the same operation, with equal arguments, for the
 * same levels. Whoever comes later is told the latest view first. Each has a time limit and a signal of its own; the
 * submission is given up with the last of them.
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

/** By name, key and a sketch of the arguments. */
type UnderWay = Map<string, Shared[]>;

function share(submit: Submit, clients: WeakMap<Environment, UnderWay>): Submit {
  return <T>(operation: Operation<T>, source: Source<T>): void => {
    let underWay = clients.get(source.environment);
    if (!underWay) clients.set(source.environment, (underWay = new Map()));
    if (operation.effect === 'update') {
      underWay.clear();
      onClose(source, () => underWay.clear());
    }
    if (operation.effect === 'update' || source.session || source.levelSignals) return submit(operation, source);
    const id = `${operation.name} ${operation.key ?? ''} ${sketchOf(operation.args)}`;
    const asker = askerOf(source);
    const equal = underWay.get(id)?.find((other) => other.asker === asker && isEqual(other, operation, source));
    if (equal) {
      source.environment.counters!.shared++;
      follow(underWay, id, equal.source as Source<T>, source);
    } else {
      const own = derive<T, T>(source);
      own.dueAt = undefined;
      own.trace = source.trace;
      add(underWay, id, { operation, source: own as Source<unknown>, asker });
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

function isEqual<T>({ operation, source }: Shared, { name, key, args }: Operation<T>, { ladder }: Source<T>): boolean {
  const { requested } = source.ladder;
  return (
    operation.name === name &&
    operation.key === key &&
    sameNames(requested, ladder.requested) &&
    structurallyEqual(operation.args, args)
  );
}

/** Keeps `shared` until it closes. */
function add(underWay: UnderWay, id: string, shared: Shared): void {
  underWay.set(id, [...(underWay.get(id) ?? []), shared]);
  onClose(shared.source, () => remove(underWay, id, shared.source));
}

function remove<T>(underWay: UnderWay, id: string, source: Source<T>): void {
  const others = underWay.get(id)?.filter((other) => other.source !== source) ?? [];
  if (others.length > 0) underWay.set(id, others);
  else underWay.delete(id);
}
