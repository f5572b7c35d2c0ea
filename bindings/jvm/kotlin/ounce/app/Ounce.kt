// Kotlin extensions of the Java classes. Close sessions and calls with use {}.
//
//   Session.load("model.w8.onnx", loadOptions { cache = cacheDir.path }).use { session ->
//       session.call(1).use { call ->
//           call.inputFloats("pixel_values").put(pixels)
//           call.run(50.milliseconds)
//           val best = call.floats("logits").indices.maxBy { call.floats("logits")[it] }
//       }
//   }
package ounce.app

import kotlin.time.Duration

fun loadOptions(fill: LoadOptions.() -> Unit): LoadOptions = LoadOptions().apply(fill)

fun shadowOptions(fill: ShadowOptions.() -> Unit): ShadowOptions = ShadowOptions().apply(fill)

fun Call.floats(output: String? = null): FloatArray = outputFloats(output)

fun Call.run(timeout: Duration) = run(timeout.inWholeNanoseconds)

fun Shadow.flush(timeout: Duration): Boolean = flush(timeout.inWholeNanoseconds)

val OunceException.isTimeout: Boolean
    get() = statusName() == "timeout"
