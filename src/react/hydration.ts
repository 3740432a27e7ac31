/** Views that cross from a server's rendering to the page. */
import * as React from 'react';
import type { AnyClient } from '../correctable/client/client.ts';
import type { Operation } from '../correctable/operation.ts';
import type { AnyView } from '../correctable/view.ts';
import { useClient, type ClientOptions } from './client-context.ts';
import { getReads } from './reads.ts';

/** A view in plain data. Without `value`, it has the value of the view before it. */
export type DehydratedView = Omit<AnyView, 'value'> & { readonly value?: unknown };

/** A read with the views that the page begins with, weakest first. */
export interface DehydratedRead {
  readonly operation: {
    readonly name: string;
    readonly args: unknown;
    readonly key: string | undefined;
  };
  readonly views: readonly DehydratedView[];
}

/** The reads of one rendering: plain data, as far as arguments and values are. */
export type DehydratedState = readonly DehydratedRead[];

/**
 * Returns the views of all reads of `client` so far, for `Hydrate`. Call it once the page is
 * rendered.
 *
 * @example const state = serialize(dehydrate(client)); // JSON.stringify, if all values and
 * versions are plain JSON
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

/** Properties of `Hydrate`. */
export interface HydrateProps extends ClientOptions {
  /** What `dehydrate` returned at the server. */
  readonly state: DehydratedState;
  readonly children?: React.ReactNode;
}

/**
 * Gives the components below the views that the server has rendered. They show these at once. Then
 * they ask for stronger views only, and for none if the view is final.
 *
 * @example hydrateRoot(element, <CorrectablesProvider client={client}><Hydrate state={state}><App
 * /></Hydrate></CorrectablesProvider>);
 */
export function Hydrate({ state, children, ...options }: HydrateProps): React.ReactNode {
  const { client, session } = useClient(options);
  React.useMemo(() => {
    const reads = getReads(client);
    for (const { operation, views } of state) {
      let value: unknown;
      const read = reads.get({ ...operation, access: 'read' } as Operation, session);
      read.hydrate(
        views.map(
          (view) => ({ ...view, value: (value = 'value' in view ? view.value : value) }) as AnyView,
        ),
      );
    }
  }, [client, session, state]);
  return children;
}
