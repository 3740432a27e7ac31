/** What a gateway keeps of the clients of one principal: however many names it takes, it has one share. */
import { costOf, type ClientRecord } from './client-record.ts';

export class KeptOfPrincipal {
  readonly id: string;
  clients = 0;
  /** Of all its clients, with what it costs to remember them. */
  bytes = 0;
  /** Those that are gone, the one that has been for longest first. */
  readonly gone = new Set<ClientRecord>();

  constructor(id: string) {
    this.id = id;
  }

  /** Its clients to forget so that so many bytes become free: nobody where that would not do. */
  toFree(bytes: number, except: ClientRecord): ClientRecord[] {
    const chosen: ClientRecord[] = [];
    let free = 0;
    for (const record of this.gone) {
      if (free >= bytes) return chosen;
      if (record === except) continue;
      chosen.push(record);
      free += record.bytes + costOf(record);
    }
    return free >= bytes ? chosen : [];
  }
}
