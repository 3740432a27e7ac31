/**
 * The settings of the page, which its address sets first:
 * `?tickets=60&threshold=20&pace=5&retailers=frankfurt,ireland,virginia,frankfurt&compare=0&sales=5&event=concert&autostart=0`.
 */
import { CorrectableError } from 'correctables';
import { TICKETS_MAX } from '../contract.ts';

export const PACE_MS_MAX = 60_000;
export const RETAILERS_MAX = 16;
export const SALES_MAX = 20;
const EVENT = /^[\w-]{1,60}$/;

export interface Settings {
  /** Tickets put on sale. */
  readonly tickets: number;
  /** Customers get an early yes only while more than this many tickets are left. */
  readonly threshold: number;
  /** A pause between two customers of one retailer, in milliseconds. */
  readonly paceMs: number;
  /** The site of each retailer. */
  readonly retailers: readonly string[];
  /**
   * Whether the same number of tickets is also sold without incremental views, at the same time.
   */
  readonly compare: boolean;
  /** How many sales one start runs, one after the other. */
  readonly sales: number;
  /**
   * The event whose tickets are sold. All pages that name it share it. Default: a new event of this
   * page
   */
  readonly event: string | undefined;
  /** Whether the sale starts by itself. Default: true */
  readonly autostart: boolean;
}

/**
 * Reads the settings from a page's query.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` that names the parameter and what it may be
 */
export function settingsFrom(query: URLSearchParams): Settings {
  return {
    tickets: readInteger(query, 'tickets', { fallback: 500, min: 1, max: TICKETS_MAX }),
    threshold: readInteger(query, 'threshold', { fallback: 20, min: 0, max: TICKETS_MAX }),
    paceMs: readInteger(query, 'pace', { fallback: 80, min: 0, max: PACE_MS_MAX }),
    retailers: siteNames(query),
    compare: query.get('compare') !== '0',
    sales: readInteger(query, 'sales', { fallback: 1, min: 1, max: SALES_MAX }),
    event: eventName(query),
    autostart: query.get('autostart') !== '0',
  };
}

/** Returns the query of a page that sells `event` with these settings. */
export function inviteTo(
  event: string,
  { retailers, threshold, paceMs, tickets }: Settings,
): string {
  const query = new URLSearchParams({
    event,
    tickets: String(tickets),
    retailers: retailers.join(','),
  });
  query.set('threshold', String(threshold));
  query.set('pace', String(paceMs));
  return `?${query.toString()}`;
}

interface Range {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

function readInteger(query: URLSearchParams, field: string, { fallback, min, max }: Range): number {
  const text = query.get(field);
  if (text === null) return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalid(field, `"${text}" is not an integer from ${min} to ${max}`);
}

function siteNames(query: URLSearchParams): readonly string[] {
  const text = query.get('retailers');
  if (text === null) return ['frankfurt', 'ireland', 'virginia', 'frankfurt'];
  const names = text.split(',').filter((name) => name !== '');
  if (names.length > 0 && names.length <= RETAILERS_MAX) return names;
  throw invalid(
    'retailers',
    `name 1 to ${RETAILERS_MAX} sites, separated by commas, for example frankfurt,ireland`,
  );
}

function eventName(query: URLSearchParams): string | undefined {
  const text = query.get('event');
  if (text === null || EVENT.test(text)) return text ?? undefined;
  throw invalid('event', `"${text}" is no name of an event: 1 to 60 letters, digits, - and _`);
}

function invalid(field: string, fix: string): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', `The address of this page: ${field}: ${fix}.`, {
    field,
  });
}
