/** The version of links that two ends of a connection use: the newest that both know. */
import { isRecord } from '../../correctable/validate.ts';
import { ENVELOPE_VERSION, OLDEST_ENVELOPE_VERSION } from '../messages/envelope-codec.ts';

/** The versions that one end knows. */
export interface LinkVersions {
  readonly version: number;
  readonly oldest: number;
}

/** The versions that this program knows. */
export const LINK_VERSIONS: LinkVersions = { version: ENVELOPE_VERSION, oldest: OLDEST_ENVELOPE_VERSION };

/** Reads the versions of the other end. If it names only one, it knows only that. */
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

/** Describes that two ends have no version in common, and which to upgrade. `site` is this end, `from` the other one. */
export function describeMismatch(site: string, own: LinkVersions, from: string, other: LinkVersions): string {
  const older = own.version < other.version ? site : from;
  const versions = `${from} uses version ${other.version} of links, and ${site} uses version ${own.version}`;
  return `${versions}: upgrade ${older}, by one version at a time`;
}
