/** Provides the client and the session of the components below. */
import * as React from 'react';
import type { AnyClient, Session } from '../correctable/client/client.ts';
import { check } from '../correctable/errors.ts';
import { CommitWitness, createWitness, type Witness } from './commit-witness.ts';
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
   * Events after which the reads on the page are refreshed: `focus` when the user comes back to the
   * page, `online` when the browser reaches the network again, or `reconnect` when the client
   * reaches its store again. Default: none
   */
  readonly refreshOn?: readonly ('focus' | 'online' | 'reconnect')[] | undefined;
  readonly children?: React.ReactNode | undefined;
}

/** The values that a provider passes to the components below. */
interface Provided extends ClientOptions {
  readonly witness?: Witness;
}

let context: React.Context<Provided> | undefined;

/** Creates the context at its first use. In server components, React has no `createContext`. */
function getContext(): React.Context<Provided> {
  const canCreate = context ?? Reflect.get(React, 'createContext');
  const advice =
    "use its hooks and components in a client component, whose file starts with 'use client'";
  check(canCreate, 'correctables/react', advice);
  return (context ??= React.createContext<Provided>({}));
}

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
  const { Provider } = getContext();
  const [witness] = React.useState(createWitness);
  const value = React.useMemo(() => ({ client, session, witness }), [client, session]);
  const events = refreshOn.join();
  React.useEffect(() => {
    const unmounting = new AbortController();
    const refresh = (): void => getReads(client).all.forEach((read) => read.refreshIfShown());
    // A phone changes only the visibility of a page. A page from the cache of the browser is only
    // shown again.
    const onShown = (event: Event & { readonly persisted?: boolean }): void => {
      if (event.persisted ?? document.visibilityState !== 'hidden') refresh();
    };
    for (const name of refreshOn) {
      if (name === 'reconnect')
        unmounting.signal.addEventListener('abort', client.onReconnect(refresh));
      else globalThis.addEventListener?.(name, refresh, unmounting);
      if (name !== 'focus') continue;
      globalThis.addEventListener?.('pageshow', onShown, unmounting);
      globalThis.document?.addEventListener?.('visibilitychange', onShown, unmounting);
    }
    return () => unmounting.abort();
  }, [client, events]);
  const last = React.createElement(CommitWitness, { witness });
  return React.createElement(Provider, { value }, children, last);
}

/**
 * Returns the client and the session of a hook, and the witness (`commit-witness.ts`) of the
 * nearest provider. If the hook has a client of its own, it does not get the session of the
 * provider's client.
 */
export function useClient(options: ClientOptions): Provided & { readonly client: AnyClient } {
  const provided = React.useContext(getContext());
  const client = options.client ?? provided.client;
  check(client, 'client', 'add a CorrectablesProvider');
  return {
    client,
    ...(provided.witness && { witness: provided.witness }),
    session: options.session ?? (client === provided.client ? provided.session : undefined),
  };
}
