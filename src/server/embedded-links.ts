/** The links between the sites of a deployment in one process. */
import type { OnAlarm } from './alarms/site-alarm.ts';
import type { Envelope } from './messages/envelope.ts';
import type { Origin, Origins } from './records/origin.ts';
import { Link } from './site/link.ts';
import { createLinkAlarm } from './site/replica-alarms.ts';
import { getOneWayDelayMs } from './site/site-latency.ts';
import type { SiteLatency } from './site/site-latency.ts';

type Receive = (to: Origin, envelopes: readonly Envelope[]) => void;
/** By sender and receiver. */
type Links = ReadonlyMap<Origin, ReadonlyMap<Origin, Link<Envelope>>>;

/**
 * A link for each pair of sites and direction.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the pair whose delay is missing
 */
export function createLinks(
  origins: Origins,
  { latency, onAlarm }: { readonly latency: SiteLatency; readonly onAlarm: OnAlarm },
  receive: Receive,
): Links {
  const linkOf = (from: Origin, to: Origin): Link<Envelope> => {
    const [sender, receiver] = [origins.getName(from), origins.getName(to)];
    return new Link({
      delayMs: getOneWayDelayMs(latency, sender, receiver),
      deliver: (envelopes) => receive(to, envelopes),
      onFull: createLinkAlarm(sender, receiver, onAlarm),
    });
  };
  const linksOf = (from: Origin): ReadonlyMap<Origin, Link<Envelope>> =>
    new Map(origins.getOthers(from).map((to) => [to, linkOf(from, to)]));
  return new Map(origins.sites.map((from) => [from, linksOf(from)]));
}
