/** Which version two ends of a connection use: the newest that both know. */
import { isRecord } from '../../correctable/validate.ts';
import { ENVELOPE_VERSION, OLDEST_ENVELOPE_VERSION } from '../messages/envelope-codec.ts';

/** The versions that one end knows. */
export interface LinkVersions {
  readonly version: number;
  readonly oldest: number;
}

/** Those of this program. */
export const LINK_VERSIONS: LinkVersions = { version: ENVELOPE_VERSION, oldest: OLDEST_ENVELOPE_VERSION };

/** Reads what the other end has said of itself. One that names only one version knows no other. */
export function parseVersions(value: unknown): LinkVersions | undefined {
  const { version, oldest = version } = isRecord(value) ? value : {};
  if (!Number.isSafeInteger(version) || !Number.isSafeInteger(oldest)) return undefined;
  return { version: version as number, oldest: oldest as number };
}

/** The version that both ends use; `undefined` if there is none. */
export function agreeOnVersion(own: LinkVersions, other: LinkVersions): number | undefined {
  const version = Math.min(own.version, other.version);
  return version >= Math.max(own.oldest, other.oldest) ? version : undefined;
}

/** Says that there is none, and what to upgrade. `site` is where this is said, `from` the other end. */
export function describeMismatch(site: string, own: LinkVersions, from: string, other: LinkVersions): string {
  const older = own.version < other.version ? site : from;
  const versions = `${from} uses version ${other.version} of links, and ${site} uses version ${own.version}`;
  return `${versions}: upgrade ${older}, by one version at a time`;
}
