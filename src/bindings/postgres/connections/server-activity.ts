/**
 * Asks a server on a new connection what it does for the other ones. This tells a slow statement
 * from a connection that was lost.
 */
import { findSqlState } from '../sql-state.ts';
import type { DriverClient, DriverPool } from '../driver.ts';

/** What a server answers on a new connection. */
export interface ServerActivity {
  /** Why it does not serve, for example a wrong password. */
  readonly refusal?: unknown;
  /**
   * Returns whether the server has nothing to do for a connection, so that a client that waits for
   * an answer waits in vain. `undefined` if it is unknown.
   */
  isIdle(client: DriverClient): boolean | undefined;
}

/** Behind a pooler, the process of a connection is not the one that executes its statements. */
const SQL = `select pid, state, wait_event, pid = pg_backend_pid() as is_own
from pg_stat_activity where usename = session_user`;

interface ProcessRow {
  /** A number, unless a type parser of the application returns something else. */
  readonly pid: unknown;
  readonly state: string | null;
  readonly wait_event: string | null;
  readonly is_own: boolean;
}

/**
 * Rejects if the server cannot be reached.
 *
 * @param ended aborts when no caller waits for the answer
 */
export async function askActivity(
  { Client, options }: DriverPool,
  ended: AbortSignal,
): Promise<ServerActivity> {
  // Another driver may have no clients apart from its pool.
  if (Client === undefined) return { isIdle: () => undefined };
  const client = new Client(options);
  let hasEnded = false;
  const disconnect = (): void => {
    const stream = client.connection?.stream;
    if (stream?.destroy !== undefined) return stream.destroy();
    if (hasEnded) return;
    hasEnded = true;
    void Promise.resolve(client.end?.()).catch(() => {}); // Its connection is gone already.
  };
  client.on('error', () => {});
  ended.addEventListener('abort', disconnect, { once: true });
  if (ended.aborted) disconnect();
  try {
    await client.connect?.();
    const { rows } = await client.query({ text: SQL });
    return toActivity(rows as readonly ProcessRow[], client);
  } catch (error) {
    if (isUnreachable(error)) throw error;
    return { refusal: error, isIdle: () => undefined };
  } finally {
    ended.removeEventListener('abort', disconnect);
    disconnect();
  }
}

function toActivity(rows: readonly ProcessRow[], { processID }: DriverClient): ServerActivity {
  const processes = new Map(rows.map((row) => [Number(row.pid), row]));
  const isDirect = typeof processID === 'number' && processes.get(processID)?.is_own === true;
  return {
    isIdle({ processID: pid }) {
      if (!isDirect || typeof pid !== 'number') return undefined;
      const row = processes.get(pid);
      if (row === undefined) return true; // Its process has ended.
      if (row.state === null || row.state === 'disabled') return undefined;
      return (
        row.state.startsWith('idle') ||
        row.wait_event === 'ClientRead' ||
        row.wait_event === 'ClientWrite'
      );
    },
  };
}

/** If a name cannot be looked up, this says nothing about the server. */
function isUnreachable(error: unknown): boolean {
  if (findSqlState(error) !== undefined) return false;
  const { code, message = '' } = Object(error) as {
    readonly code?: unknown;
    readonly message?: string;
  };
  return (
    /^(ECONN|EHOST|ENET|EPIPE|ETIMEDOUT|ENOENT)/.test(String(code)) ||
    /terminated|timeout/.test(message)
  );
}
