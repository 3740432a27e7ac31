/** What a gateway keeps of the clients of one principal: however many names it takes, it has one share. */

/** @template R what is kept of one client */
export class KeptOfPrincipal<R> {
  readonly id: string;
  clients = 0;
  /** Of all its clients, with what it costs to remember them. */
  bytes = 0;
  /** Those that are gone, the one that has been for longest first. */
  readonly gone: Set<R> = new Set<R>();

  constructor(id: string) {
    this.id = id;
  }
}
