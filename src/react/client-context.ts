/** The client and the session of the components below. */
import * as React from 'react';
import type { AnyClient, Session } from '../correctable/client/client.ts';
import { check } from '../correctable/errors.ts';
import { CommitWitness } from './commit-witness.ts';
import { getReads } from './reads.ts';

/** The client of hooks, and the session in which they invoke. */
export interface ClientOptions<C extends AnyClient = AnyClient> {
  /** The client to invoke at. Default: that of the nearest `CorrectablesProvider` */
  readonly client?: C | undefined;
  /**
   * The session of the operations, made by the client. Default: that of the nearest
   * `CorrectablesProvider`, if any
   */
  readonly session?: Session | undefined;
}

/** Properties of `CorrectablesProvider`. */
export interface CorrectablesProviderProps {
  readonly client: AnyClient;
  /** Reads in this session see its own writes at every level. Default: no session */
  readonly session?: Session | undefined;
  /**
   * Events after which the reads on the page are refreshed: `focus` of the window, `online` when
   * the browser has its network back, or `reconnect` when the client has its store back. Default:
   * none
   */
  readonly refreshOn?: readonly ('focus' | 'online' | 'reconnect')[] | undefined;
  readonly children?: React.ReactNode;
}

const ClientContext = /* @__PURE__ */ React.createContext<ClientOptions>({});

/**
 * Provides the hooks below with their client. On a server, create a client for each request: all
 * components with the same client share its reads.
 *
 * @example
 * createRoot(element).render(
 *   <CorrectablesProvider client={client}>
 *     <App />
 *   </CorrectablesProvider>,
 * );
 */
export function CorrectablesProvider(properties: CorrectablesProviderProps): React.ReactNode {
  const { client, session, refreshOn = [], children } = properties;
  const value = React.useMemo(() => ({ client, session }), [client, session]);
  const events = refreshOn.join();
  React.useEffect(() => {
    const unmounting = new AbortController();
    const refresh = (): void => getReads(client).all.forEach((read) => read.refreshIfShown());
    for (const name of refreshOn)
      if (name === 'reconnect')
        unmounting.signal.addEventListener('abort', client.onReconnect(refresh));
      else globalThis.addEventListener?.(name, refresh, unmounting);
    return () => unmounting.abort();
  }, [client, events]);
  const witness = React.createElement(CommitWitness);
  return React.createElement(ClientContext.Provider, { value }, children, witness);
}

/**
 * Returns the client and the session that hold for a hook. A client of its own comes without the
 * session of others.
 */
export function useClient(options: ClientOptions): ClientOptions & { readonly client: AnyClient } {
  const context = React.useContext(ClientContext);
  const client = options.client ?? context.client;
  check(client, 'client', 'add a CorrectablesProvider');
  return {
    client,
    session: options.session ?? (client === context.client ? context.session : undefined),
  };
}
