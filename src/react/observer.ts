/**
 * What one component shows of a read. The component renders again only if a field changes that it
 * has used.
 */
import type { AnyView } from '../correctable/view.ts';
import { getFields, IDLE, type Fields } from './fields.ts';
import type { SharedRead } from './shared-read.ts';

export interface Observer {
  readonly subscribe: (onChange: () => void) => () => void;
  readonly getSnapshot: () => Fields;
  /** Returns what the server has rendered: hydration has to render the same. */
  readonly getServerSnapshot: () => Fields;
}

const doNothing = (): void => {};

/** `rank` is that of the weakest level that the component shows. */
export function createObserver(
  read: SharedRead | undefined,
  rank: number,
  keepMs: number,
): Observer {
  const getView = (): AnyView | undefined => read?.getView(rank);
  const refresh = read ? read.refresh : doNothing;
  const getCurrent = (): Fields => ({ ...getFields(getView(), read ?? IDLE), refresh });
  const used = new Set<string>();
  /** The fields for which the component has rendered. */
  let last: Fields | undefined;
  let result: Fields;
  let serverResult: Fields | undefined;

  const getSnapshot = (): Fields => {
    const current = getCurrent();
    if (!last || [...used].some((name) => !Object.is(last![name], current[name]))) {
      last = current;
      // Fields that no render has used may have changed since.
      const get = (_: Fields, name: string): unknown => {
        used.add(name);
        return getCurrent()[name];
      };
      result = new Proxy(current, { get });
    }
    return result;
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
  };
}
