/** The views of a client as plain data, for a page that a server has rendered. */
import type { AnyClient } from '../correctable/client/client.ts';
import type { AnyView } from '../correctable/view.ts';
import { getReads } from './reads.ts';

/** A view in plain data. Without `value`, it has the value of the view before it. */
export type DehydratedView = Omit<AnyView, 'value'> & {
  readonly value?: unknown;
};

/** A read with the views that the page begins with, weakest first. */
export interface DehydratedRead {
  readonly operation: {
    readonly name: string;
    readonly args: unknown;
    readonly key: string | undefined;
  };
  readonly views: readonly DehydratedView[];
}

/** The reads of one rendering. The state is plain data if the arguments and values are. */
export type DehydratedState = readonly DehydratedRead[];

/**
 * Returns the views of all reads of `client` so far, for `Hydrate`. Call it once the page is
 * rendered.
 *
 * @example
 * // JSON is enough if all values and versions are plain JSON. In a <script>, escape each `<`.
 * const state = JSON.stringify(dehydrate(client)).replaceAll('<', '\\u003c');
 */
export function dehydrate(client: AnyClient): DehydratedState {
  return [...getReads(client).all.values()].flatMap(
    ({ operation: { name, args, key }, rendered, view }) => {
      if (!view) return [];
      const views = [...new Set([...rendered, view])].map(({ value, ...details }, index, all) =>
        value === all[index - 1]?.value ? details : { ...details, value },
      );
      return { operation: { name, args, key }, views };
    },
  );
}
