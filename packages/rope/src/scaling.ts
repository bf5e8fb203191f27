// How frequencies are stretched for contexts longer than those a model was trained with. Names are
// those of Hugging Face's rope_scaling, in camelCase, and formulas those of transformers'
// modeling_rope_utils.py, in float64.

/** Positions divided by `factor` (Chen et al., 2023, "Extending Context Window …"). */
export interface LinearScaling {
  type: "linear";
  factor: number;
}

/**
 * "Dynamic NTK": theta grows with the length, which is maxPositions:
 * `theta (factor length / original - (factor - 1)) ** (dim / (dim - 2))`, length at least original.
 */
export interface DynamicScaling {
  type: "dynamic";
  factor: number;
  /** Length the model was trained for. Default maxPositions, at which nothing is stretched. */
  originalMaxPositionEmbeddings?: number | undefined;
}

/** Llama 3.1: only wavelengths that are long for the original context are divided by `factor`. */
export interface Llama3Scaling {
  type: "llama3";
  factor: number;
  /** Wavelengths above originalMaxPositionEmbeddings / lowFreqFactor are stretched whole … */
  lowFreqFactor: number;
  /** … those below originalMaxPositionEmbeddings / highFreqFactor not; a ramp lies between. */
  highFreqFactor: number;
  originalMaxPositionEmbeddings: number;
}

/**
 * YaRN (Peng et al., 2023, "YaRN: Efficient Context Window Extension of Large Language Models",
 * arXiv:2309.00071): divides by `factor` what turns less than betaSlow times in the original
 * context, leaves what turns more than betaFast times, with a ramp between.
 */
export interface YarnScaling {
  type: "yarn";
  factor: number;
  /** Default maxPositions. */
  originalMaxPositionEmbeddings?: number | undefined;
  /** Factor of cos and sin. Default: by mscale and mscaleAllDim, or 0.1 ln(factor) + 1. */
  attentionFactor?: number | undefined;
  /** Default 32. */
  betaFast?: number | undefined;
  /** Default 1. */
  betaSlow?: number | undefined;
  /** With mscaleAllDim, DeepSeek's: (0.1 mscale ln(factor) + 1) / (the same of mscaleAllDim). */
  mscale?: number | undefined;
  mscaleAllDim?: number | undefined;
  /** Whether the ramp begins and ends at whole columns. Default true; gpt-oss has false. */
  truncate?: boolean | undefined;
}

/**
 * LongRoPE (Ding et al., 2024, "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens",
 * arXiv:2402.13753): each frequency divided by a number of its own.
 */
export interface LongropeScaling {
  type: "longrope";
  /** dim / 2 divisors, taken where maxPositions is at most originalMaxPositionEmbeddings. */
  shortFactor: readonly number[];
  /** dim / 2 divisors, taken where it is more. */
  longFactor: readonly number[];
  /** Default maxPositions. */
  originalMaxPositionEmbeddings?: number | undefined;
  /**
   * Of the model: its longest context over the original one, on which attentionFactor depends.
   * Default maxPositions / originalMaxPositionEmbeddings; to be given for a shorter table.
   */
  factor?: number | undefined;
  /** Factor of cos and sin. Default sqrt(1 + ln(factor) / ln(original)), 1 for no more than 1. */
  attentionFactor?: number | undefined;
}

export type RopeScaling =
  | LinearScaling
  | DynamicScaling
  | Llama3Scaling
  | YarnScaling
  | LongropeScaling;

/** What a scaling starts from. */
export interface Plan {
  dim: number;
  theta: number;
  maxPositions: number;
}

/** Radians per position, by column, and the factor of cos and sin. */
export interface Frequencies {
  frequencies: Float64Array;
  attentionFactor: number;
}

/** `theta ** (-2 i / dim)` (Su et al., 2021). */
export function plainFrequencies(dim: number, theta: number): Float64Array {
  return Float64Array.from({ length: dim / 2 }, (_, i) => 1 / theta ** ((2 * i) / dim));
}

/** The frequencies of a checked scaling, or without one. */
export function frequenciesOf(plan: Plan, scaling: RopeScaling | undefined): Frequencies {
  const { dim, theta } = plan;
  switch (scaling?.type) {
    case "linear": {
      const frequencies = plainFrequencies(dim, theta).map((plain) => plain / scaling.factor);
      return { frequencies, attentionFactor: 1 };
    }
    case "dynamic":
      return { frequencies: plainFrequencies(dim, grownTheta(plan, scaling)), attentionFactor: 1 };
    case "llama3": {
      const frequencies = plainFrequencies(dim, theta).map((plain) => llama3(plain, scaling));
      return { frequencies, attentionFactor: 1 };
    }
    case "yarn":
      return yarn(plan, scaling);
    case "longrope":
      return longrope(plan, scaling);
    default:
      return { frequencies: plainFrequencies(dim, theta), attentionFactor: 1 };
  }
}

function grownTheta({ dim, theta, maxPositions }: Plan, scaling: DynamicScaling): number {
  const { factor, originalMaxPositionEmbeddings: original = maxPositions } = scaling;
  const length = Math.max(maxPositions, original);
  return theta * ((factor * length) / original - (factor - 1)) ** (dim / (dim - 2));
}

function llama3(plain: number, scaling: Llama3Scaling): number {
  const { factor, lowFreqFactor, highFreqFactor, originalMaxPositionEmbeddings } = scaling;
  const wavelength = (2 * Math.PI) / plain;
  if (wavelength < originalMaxPositionEmbeddings / highFreqFactor) return plain;
  if (wavelength > originalMaxPositionEmbeddings / lowFreqFactor) return plain / factor;
  const turns = originalMaxPositionEmbeddings / wavelength;
  const smooth = (turns - lowFreqFactor) / (highFreqFactor - lowFreqFactor);
  return ((1 - smooth) * plain) / factor + smooth * plain;
}

function yarn({ dim, theta, maxPositions }: Plan, scaling: YarnScaling): Frequencies {
  const { factor, originalMaxPositionEmbeddings: original = maxPositions } = scaling;
  const { betaFast = 32, betaSlow = 1, truncate = true } = scaling;
  // The column whose frequency turns so many times in the original context.
  const columnOf = (turns: number) =>
    (dim * Math.log(original / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [first, last] = [columnOf(betaFast), columnOf(betaSlow)];
  const low = Math.max(truncate ? Math.floor(first) : first, 0);
  const high = Math.min(truncate ? Math.ceil(last) : last, dim - 1);
  const length = low === high ? 0.001 : high - low;
  const frequencies = plainFrequencies(dim, theta).map((plain, i) => {
    const stretched = Math.min(Math.max((i - low) / length, 0), 1);
    return (plain / factor) * stretched + plain * (1 - stretched);
  });
  return { frequencies, attentionFactor: scaling.attentionFactor ?? yarnFactor(scaling) };
}

function yarnFactor({ factor, mscale, mscaleAllDim }: YarnScaling): number {
  const scaled = (by: number) => (factor <= 1 ? 1 : 0.1 * by * Math.log(factor) + 1);
  // As in transformers, a 0 counts as left out.
  return mscale && mscaleAllDim ? scaled(mscale) / scaled(mscaleAllDim) : scaled(1);
}

function longrope({ dim, theta, maxPositions }: Plan, scaling: LongropeScaling): Frequencies {
  const { originalMaxPositionEmbeddings: original = maxPositions } = scaling;
  const { longFactor, shortFactor, factor = maxPositions / original } = scaling;
  const divisors = maxPositions > original ? longFactor : shortFactor;
  const stretched = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));
  return {
    frequencies: plainFrequencies(dim, theta).map((plain, i) => plain / divisors[i]!),
    attentionFactor: scaling.attentionFactor ?? stretched,
  };
}
