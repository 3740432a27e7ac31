/** A client that was let in, on its present connection. */
import type { NumberedTable } from '../../../protocol/numbered-table.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import type { ClientExpiry } from './client-expiry.ts';
import type { ClientRecord } from '../clients/client-record.ts';
import type { GatewayHost, Principal } from '../host/host.ts';
import type { Load } from '../limits/load.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import type { HostedOperation } from '../submission/hosted-operation.ts';
import type { Outlet, SubmissionOwner } from '../submission/submission-parts.ts';

export interface ConnectedClient {
  readonly record: ClientRecord;
  /** Changes when the client renews its token. */
  principal: Principal;
  readonly expiry: ClientExpiry;
  readonly rate: RateLimit;
  /** The same for all connections of its principal. */
  readonly sharedRate: RateLimit;
  readonly owner: SubmissionOwner;
  readonly host: GatewayHost;
  readonly outlet: ClientOutlet;
  /** What the operations of this connection take up. */
  readonly load: Load;
  /** The operations that this connection waits for, by number. */
  readonly running: NumberedTable<HostedOperation>;
  /** Those of which it is not known yet whether they are allowed. */
  readonly admissions: AdmissionQueue;
}

/** The way out of the connection, and how much waits there. */
export interface ClientOutlet extends Outlet {
  readonly waitingBytes: number;
}
