/** A component that passes the views of a server's rendering to the page. */
import * as React from 'react';
import type { Operation } from '../correctable/operation.ts';
import type { AnyView } from '../correctable/view.ts';
import { useClient, type ClientOptions } from './client-context.ts';
import type { DehydratedState } from './dehydrate.ts';
import { getReads } from './reads.ts';

/** Properties of `Hydrate`. */
export interface HydrateProps extends ClientOptions {
  /** The result of `dehydrate` at the server. */
  readonly state: DehydratedState;
  readonly children?: React.ReactNode | undefined;
}

/**
 * Passes the views that the server has rendered to the components below. They show these views at
 * once. Then they request only stronger views, and none if the view is final.
 *
 * @example
 * hydrateRoot(
 *   element,
 *   <CorrectablesProvider client={client}>
 *     <Hydrate state={state}>
 *       <App />
 *     </Hydrate>
 *   </CorrectablesProvider>,
 * );
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
          (view) =>
            ({
              ...view,
              value: (value = 'value' in view ? view.value : value),
            }) as AnyView,
        ),
      );
    }
  }, [client, session, state]);
  return children;
}
