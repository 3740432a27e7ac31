/** The program of the season. */
export interface Concert {
  readonly id: string;
  readonly artist: string;
  readonly place: string;
  readonly date: string;
  readonly tickets: number;
  /** Colors of the poster. */
  readonly poster: readonly [string, string];
}

export const concerts: readonly Concert[] = [
  {
    id: 'aurora',
    artist: 'Aurora Lindqvist',
    place: 'Harbour Arena',
    date: 'Fri 4 December, 20:00',
    tickets: 400,
    poster: ['#4338ca', '#db2777'],
  },
  {
    id: 'north',
    artist: 'The North Quartet',
    place: 'Old Observatory',
    date: 'Sat 5 December, 19:30',
    tickets: 30,
    poster: ['#0f766e', '#2563eb'],
  },
  {
    id: 'basement',
    artist: 'Mina & the Low Tides',
    place: 'Basement Club',
    date: 'Sun 6 December, 22:00',
    tickets: 4,
    poster: ['#b45309', '#be123c'],
  },
];

const SEATS_IN_ROW = 20;

/** Returns the name of a seat, counted from 0. */
export const formatSeat = (index: number): string =>
  `Row ${String.fromCharCode(65 + Math.floor(index / SEATS_IN_ROW))}, seat ${(index % SEATS_IN_ROW) + 1}`;

/**
 * The page answers on an early view while at least this many tickets are left. Below, it waits for
 * the final view.
 */
export const THRESHOLD = 10;
