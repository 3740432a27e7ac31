/**
 * The operations of the ad server's store (Correctables, OSDI 2016, §4.2): a user's profile refers
 * to ads, and an ad refers to its content. A page imports this file, never the service.
 */
import { defineContract, operation } from 'correctables/contract';
import * as z from 'zod';

const id = z.string().min(1).max(64);
const references = z.array(id).max(40);

const adSchema = z.object({
  id,
  brand: z.string(),
  priceCents: z.number().int(),
  /** The key of its text and media at the content service. */
  creative: id,
});

/** An ad as the store has it. */
export interface Ad {
  readonly id: string;
  readonly brand: string;
  readonly priceCents: number;
  readonly creative: string;
}

/** The maximum number of rows in one `putProfiles` or `putAds`. */
export const BATCH_MAX = 500;

export const adContract = defineContract('ad-server', {
  /** The references of the ads chosen for a user; an empty array for an unknown user. */
  getPersonalizedAdsRefs: operation({
    access: 'read',
    args: z.object({ uid: id }),
    result: references,
    key: ({ uid }) => uid,
  }),
  getAd: operation({
    access: 'read',
    args: z.object({ id }),
    result: adSchema.nullable(),
    key: (ad) => ad.id,
  }),
  /** Many ads in one read, in the order of `ids`; null for a missing ad. */
  getAds: operation({
    access: 'read',
    args: z.object({ ids: references }),
    result: z.array(adSchema.nullable()),
  }),
  putProfiles: operation({
    access: 'write',
    args: z.object({ profiles: z.array(z.object({ uid: id, refs: references })).max(BATCH_MAX) }),
    result: z.void(),
  }),
  putAds: operation({
    access: 'write',
    args: z.object({ ads: z.array(adSchema).max(BATCH_MAX) }),
    result: z.void(),
  }),
});
