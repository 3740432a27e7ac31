/**
 * The part of a read that one component shows. The component renders again only if a field changes
 * that it has used.
 */
import type { AnyView } from '../correctable/view.ts';
import { getFields, IDLE, type Fields } from './fields.ts';
import type { SharedRead } from './shared-read.ts';

export interface Observer {
  readonly subscribe: (onChange: () => void) => () => void;
  /** Returns the same object until a field changes that the component has used. */
  readonly getSnapshot: () => Fields;
  /** Returns the fields that the server has rendered, because hydration has to render the same. */
  readonly getServerSnapshot: () => Fields;
  /** Returns the fields as they are when the component renders. They never change later. */
  readonly getResult: (snapshot: Fields) => Fields;
}

const doNothing = (): void => {};

/**
 * Creates the observer of one component. `rank` is the rank of the weakest level that the component
 * shows.
 */
export function createObserver(
  read: SharedRead | undefined,
  rank: number,
  keepMs: number,
): Observer {
  const getView = (): AnyView | undefined => read?.getView(rank);
  const refresh = read ? read.refresh : doNothing;
  const getCurrent = (): Fields => ({
    ...getFields(getView(), read ?? IDLE),
    refresh,
  });
  const used = new Set<string>();
  /** The fields for which the component has rendered. */
  let last: Fields | undefined;
  /**
   * The fields of the latest result. They differ from `last` only in fields that the component has
   * not used.
   */
  let latest: Fields | undefined;
  let result: Fields;
  let serverResult: Fields | undefined;

  const getSnapshot = (): Fields => {
    const current = getCurrent();
    if (!last || hasChanged(last, current, used)) last = current;
    return last;
  };

  return {
    subscribe: (onChange) => (read ? read.join(onChange, keepMs) : doNothing),
    getSnapshot,
    getServerSnapshot() {
      const view = read?.getRendered(rank);
      if (view === getView()) return getSnapshot();
      return (serverResult ??= {
        ...getFields(view, { isRequesting: !view?.final, error: undefined }),
        refresh,
      });
    },
    getResult(snapshot) {
      if (snapshot === serverResult) return snapshot;
      const current = getCurrent();
      if (!latest || hasChanged(latest, current, Object.keys(current))) {
        latest = current;
        result = new Proxy(current, { get: noteUse });
      }
      return result;
    },
  };

  function noteUse(fields: Fields, name: string): unknown {
    used.add(name);
    return fields[name];
  }
}

function hasChanged(before: Fields, after: Fields, names: Iterable<string>): boolean {
  return [...names].some((name) => !Object.is(before[name], after[name]));
}
