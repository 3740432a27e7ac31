/** Sends the envelopes of a site as bytes over its links, and receives those of other sites. */
import type { EnvelopeCodec } from '../../site/wire/envelope-codec.ts';
import { RejectedMessageError, SENT_BACK, type Envelope } from '../../site/wire/envelope.ts';
import type { Origins } from '../../service/records/origin.ts';
import type { SiteDriver } from '../site-driver.ts';
import type { ClusterLinks } from './cluster-links.ts';

export interface SiteMessagesContext {
  readonly codec: EnvelopeCodec;
  /** Identifies messages of this deployment. */
  readonly deployment: string;
  readonly origins: Origins;
  /** `undefined` while the site does not run. */
  readonly driver: SiteDriver | undefined;
  readonly links: ClusterLinks;
}

/** Sends a message of the site, in the version that its receiver reads. */
export function sendEnvelope(
  envelope: Envelope,
  { codec, origins, links, driver }: SiteMessagesContext,
): void {
  try {
    const name = origins.getName(envelope.to.site);
    // Send the time too, because the clocks of sender and receiver differ.
    const parts = codec.encode(
      { ...envelope, sentAtMs: Date.now() },
      undefined,
      links.getVersion(name),
    );
    for (const bytes of parts) {
      links.send(name, bytes);
      if (SENT_BACK.includes(envelope.message.kind)) links.sendBack(name, bytes);
    }
  } catch (error) {
    if (!(error instanceof RejectedMessageError)) throw error;
    driver?.rejectMessage(error);
  }
}

/** Decodes envelopes that arrived over the link of a site, and passes them to this site. */
export function receiveEnvelopes(
  from: string,
  contents: readonly Uint8Array[],
  { codec, deployment, origins, driver }: Omit<SiteMessagesContext, 'links'>,
): void {
  if (driver === undefined) return;
  const envelopes: Envelope[] = [];
  for (const content of contents) {
    try {
      const envelope = codec.decode(content, origins, deployment);
      const { site } = envelope.from;
      if (origins.getName(site) !== from) {
        // The sender may have joined by a record of the red log that is not here yet.
        const reason = site < origins.size ? 'address' : 'origin';
        throw new RejectedMessageError(reason, `it came over the link of ${from}`, site);
      }
      envelopes.push(envelope);
    } catch (error) {
      if (!(error instanceof RejectedMessageError)) throw error;
      driver.rejectMessage(error);
    }
  }
  if (envelopes.length > 0) driver.receive(envelopes);
}
