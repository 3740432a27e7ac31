/** The rows of stores with statements, and the contract's reads of them. */
import type { Operation } from 'correctables';
import * as z from 'zod';
import { inOrderOf } from '../../shared/order-rows.ts';
import type { Translations } from '../../shared/translate-operations.ts';
import type { Ad } from '../contract.ts';

export const profileRow = z.object({ uid: z.string(), refs: z.array(z.string()) });

export const adRow = z.object({
  id: z.string(),
  brand: z.string(),
  priceCents: z.number(),
  creative: z.string(),
});

/** The statements that read. */
export interface ReadStatements {
  profile(args: { uid: string }): Operation<string[] | undefined>;
  ad(args: { id: string }): Operation<Ad | undefined>;
  ads(args: { ids: string[] }): Operation<Ad[]>;
}

/** Returns the contract's reads by these statements. */
export const translateReads = ({ profile, ad, ads }: ReadStatements) =>
  ({
    getPersonalizedAdsRefs: ({ uid }: { uid: string }) => ({
      operation: profile({ uid }),
      result: (refs: string[] | undefined) => refs ?? [],
    }),
    getAd: ({ id }: { id: string }) => ({
      operation: ad({ id }),
      result: (found: Ad | undefined) => found ?? null,
    }),
    getAds: ({ ids }: { ids: string[] }) => ({
      operation: ads({ ids }),
      result: (found: Ad[]) => inOrderOf(ids, found),
    }),
  }) satisfies Translations;
