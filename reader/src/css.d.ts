import "react";

declare module "react" {
  interface CSSProperties {
    /** How far a comment is indented. */
    "--level"?: number;
  }
}
