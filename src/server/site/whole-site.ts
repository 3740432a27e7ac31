/**
 * What those see of a site who look at several of its parts. `Site` is the only implementation.
 * This view is here because `Site` imports those files, and they must not import it back.
 */
import type { MemoryPort } from './core/memory-port.ts';
import type { OperationId, SlotDecision } from '../service/records/records.ts';
import type { Section } from '../service/records/checkpoint.ts';
import type { SiteCore } from './core/site-core.ts';
import type { RedPath } from './lane/red-path.ts';
import type { Activation } from './parts/activation.ts';
import type { BluePath } from './parts/blue/blue-path.ts';
import type { KnownStarts } from './parts/known-starts.ts';
import type { OperationLookups } from './parts/lookups/operation-lookup.ts';
import type { Membership } from './parts/membership.ts';
import type { Writes } from './parts/writes.ts';

export interface WholeSite extends SiteCore {
  readonly blue: BluePath;
  readonly red: RedPath;
  readonly writes: Writes;
  readonly lookups: OperationLookups;
  readonly membership: Membership;
  readonly activation: Activation;
  readonly starts: KnownStarts;
  readonly memory: { readonly savedBytes: number } & MemoryPort;
  /** The parts of the state that are saved row by row. */
  readonly sections: Readonly<Record<string, Section>>;
  /** Entries of the site's own log that are synced: the state contains them. */
  readonly syncedLength: number;
  /** An entry of the own log has decided a slot before this start. */
  restoreSlot(id: OperationId, hop: number, decision: SlotDecision): void;
}
