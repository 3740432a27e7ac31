/** PgBouncer in transaction mode in front of servers of PostgreSQL. */
import { mkdtempSync, chmodSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadsFolder } from '../../../engines/folders.ts';
import { freePorts, LOOPBACK } from '../../../engines/ports.ts';
import { findUser } from '../../../engines/postgres/programs.ts';
import type { PostgresServers } from '../../../engines/postgres/servers.ts';
import { startDaemon, stopDaemon, waitUntil } from '../../../engines/process.ts';
import { createLibraryPath, unpack, unpackDebian } from '../../../engines/unpack.ts';

const DEBIAN_PACKAGES = ['pgbouncer', 'libevent-2.1-7', 'libc-ares2'];
const STARTING_MS = 20_000;

export interface StartedPgBouncer {
  /** How a client connects to a server through it. The databases have the names of the servers. */
  readonly connection: (server: string) => {
    host: string;
    port: number;
    user: string;
    database: string;
  };
  readonly stop: () => Promise<void>;
}

/**
 * Starts it with two connections to each server, which its clients share from transaction to
 * transaction.
 *
 * @throws EngineUnavailable if it cannot be downloaded
 */
export async function startPgBouncer(servers: PostgresServers): Promise<StartedPgBouncer> {
  const programs = join(downloadsFolder('pgbouncer'), 'debian');
  await unpack(programs, {
    name: 'pgbouncer',
    howToGet: 'run this on Debian, whose package is unpacked (after apt-get update)',
    fill: (parts) => unpackDebian(parts, DEBIAN_PACKAGES),
  });
  const [[port = 0], user] = await Promise.all([freePorts(1), findUser()]);
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  chmodSync(folder, 0o755);
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(settings, createSettings(servers, port));
  const daemon = startDaemon({
    command: join(programs, 'usr/sbin/pgbouncer'),
    args: [settings],
    mark: settings,
    logFile: join(folder, 'log'),
    cwd: folder,
    env: createLibraryPath(programs),
    user,
  });
  if (!(await waitUntil(() => accepts(port), STARTING_MS)))
    throw new Error(`PgBouncer does not start, see ${folder}/log`);
  return {
    connection: (server) => ({ host: LOOPBACK, port, user: 'postgres', database: server }),
    stop: async () => {
      await stopDaemon(daemon);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function createSettings(servers: PostgresServers, port: number): string {
  const databases = servers.state.layout.servers.map(({ name }) => {
    const { host, port: serverPort, database } = servers.connection(name);
    return `${name} = host=${host} port=${serverPort} dbname=${database} user=postgres`;
  });
  return [
    '[databases]',
    ...databases,
    '[pgbouncer]',
    `listen_addr = ${LOOPBACK}`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 2',
    '',
  ].join('\n');
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, LOOPBACK);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
