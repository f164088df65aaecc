// Lets the property `style` of React's elements have the custom property of thread.css.
import "react";

declare module "react" {
  interface CSSProperties {
    /** By how many levels a comment is indented. */
    "--level"?: number;
  }
}
