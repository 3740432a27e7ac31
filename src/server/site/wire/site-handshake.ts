/** Creates the handshake of a site, from its replica and its copy of the red log. */
import type { NodeMessage } from './envelope.ts';
import type { MessageFilter } from './message-filter.ts';
import { NodeHandshake, type KnownStreams } from './node-handshake.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { Replica } from '../replica.ts';
import { getRedLogPlace, type SiteOptions } from '../site-options.ts';

export interface SiteHandshakeParts {
  readonly replica: Replica;
  readonly messageFilter: MessageFilter;
  /** The copies of the red logs. One has no end after a halt, because it proves nothing then. */
  readonly redLogs: KnownStreams;
  send(to: Origin, message: NodeMessage): void;
  onPeerForked(peer: Origin, message: string): void;
  onForked(message: string): void;
}

export function createSiteHandshake(
  options: SiteOptions,
  { replica, messageFilter, redLogs, ...events }: SiteHandshakeParts,
): NodeHandshake {
  const { site, origins, resendAfterMs, directory = '', generation = 0 } = options;
  return new NodeHandshake({
    site,
    origins,
    leaders: origins.logs.map((_, partition) => getRedLogPlace(options, partition).leader),
    directory,
    generation,
    resendAfterMs,
    refusesUnknownStarts: options.stopsOnUnknownStart === true,
    streams: {
      getEnd: (origin) => (origins.isLog(origin) ? redLogs : replica.blue).getEnd(origin),
      getDigest: (origin, length) =>
        (origins.isLog(origin) ? redLogs : replica.blue).getDigest(origin, length),
    },
    getEpoch: () => messageFilter.epoch,
    getAccepted: (peer) => messageFilter.getAccepted(peer),
    getDirectory: (peer) => replica.starts.directories.get(peer),
    onAccepted: (peer, epoch, name) => {
      if (messageFilter.accept(peer, epoch))
        replica.noteEpoch(peer, epoch, name === '' ? undefined : name);
    },
    ...events,
  });
}
