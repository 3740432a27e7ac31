/** The hook for `prefetch` with the client of the component. */
import * as React from 'react';
import type { Operation } from '../correctable/operation.ts';
import { useClient, type ClientOptions } from './client-context.ts';
import { prefetch } from './prefetch.ts';

/**
 * Returns `prefetch` for the client and the session of the component.
 *
 * @example
 * const prefetch = usePrefetch();
 * return <a href={url} onMouseEnter={() => prefetch(get(`article:${id}`))}>{title}</a>;
 */
export function usePrefetch(options: ClientOptions = {}): (operation: Operation) => Promise<void> {
  const { client, session } = useClient(options);
  return React.useCallback(
    (operation) => prefetch(client, operation, { session }),
    [client, session],
  );
}
