/**
 * The headlines that the newsroom publishes: those of the first front page, then others in turn.
 */
import type { Story } from './contract.ts';

type Draft = Omit<Story, 'id'>;

/** Oldest first. The comments belong to the last of them. */
export const FIRST_HEADLINES: readonly Draft[] = [
  { headline: 'Ferry to the islands sails again', place: 'Galway' },
  { headline: 'Museum opens its roof garden', place: 'Lisbon' },
  { headline: 'Night trains return to the coast', place: 'Vienna' },
  { headline: 'Library lends garden tools', place: 'Oslo' },
  { headline: 'City to close its old bridge', place: 'Porto' },
];

const LATER_HEADLINES: readonly Draft[] = [
  { headline: 'Storm delays flights in the north', place: 'Bergen' },
  { headline: 'Chess club beats its computer', place: 'Tbilisi' },
  { headline: 'Tram drivers end their strike', place: 'Turin' },
  { headline: 'Rare owl nests in the town hall', place: 'Gdańsk' },
  { headline: 'Bakers agree on a longer night', place: 'Lyon' },
  { headline: 'River clean enough to swim', place: 'Basel' },
  { headline: 'Old cinema shows silent films', place: 'Cork' },
  { headline: 'School grows its own lunch', place: 'Malmö' },
];

/** The next one that is not on the front page. */
export function chooseHeadline(shown: readonly Story[]): Draft {
  const isShown = ({ headline }: Draft): boolean =>
    shown.some((story) => story.headline === headline);
  // Continue after the newest headline, so that all of them are used in turn.
  const newest = LATER_HEADLINES.findIndex(({ headline }) => headline === shown[0]?.headline);
  const inTurn = LATER_HEADLINES.map(
    (_, at) => LATER_HEADLINES[(newest + 1 + at) % LATER_HEADLINES.length] as Draft,
  );
  return inTurn.find((draft) => !isShown(draft)) as Draft;
}
