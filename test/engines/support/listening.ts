/** Where a process listens: Linux's own tables of its sockets. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTEN = '0A';

/**
 * The addresses, `a.b.c.d:port` (IPv6 in hexadecimal), of all TCP sockets on which the process
 * listens.
 */
export function listeningAddresses(pid: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => inodeOf(`/proc/${pid}/fd/${fd}`)),
  );
  return ['tcp', 'tcp6'].flatMap((table) => {
    const lines = readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1);
    const fields = lines.map((line) => line.trim().split(/\s+/));
    return fields
      .filter(([, , , state, , , , , , inode]) => state === LISTEN && inodes.has(inode ?? ''))
      .map(([, local = '']) => readable(local));
  });
}

function inodeOf(link: string): string[] {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.slice(1) ?? [];
  } catch {
    return []; // Closed meanwhile.
  }
}

/** IPv4 addresses, also those in IPv6's clothes, are hexadecimal with the last byte first. */
function readable(local: string): string {
  const [host = '', port = ''] = local.split(':');
  const v4 = /^(?:0{16}FFFF0000)?([0-9A-F]{8})$/.exec(host)?.[1];
  const bytes = v4?.match(/../g)?.reverse();
  return `${bytes?.map((byte) => Number.parseInt(byte, 16)).join('.') ?? host}:${Number.parseInt(port, 16)}`;
}
