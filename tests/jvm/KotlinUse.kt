// KotlinUse MODEL CACHE ONNXRUNTIME: tests the extensions of bindings/jvm/kotlin on a desktop JVM.
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import ounce.app.OunceException
import ounce.app.Session
import ounce.app.floats
import ounce.app.flush
import ounce.app.isTimeout
import ounce.app.loadOptions
import ounce.app.run
import ounce.app.shadowOptions

fun main(arguments: Array<String>) {
    val (model, folder, runtime) = arguments
    Session.load(model, loadOptions { library = runtime; cache = folder }).use { session ->
        check(session.isUnpacked)
        session.call(1).use { call ->
            val audio = call.inputFloats("audio")
            for (i in 0 until audio.remaining()) audio.put(i, i * 37 % 101 / 500f - .1f)
            call.run(1.minutes)
            check(call.floats("logits").size == 10 && call.floats().contentEquals(call.floats("logits")))
            val failure = runCatching { call.run(1.nanoseconds) }.exceptionOrNull()
            check(failure is OunceException && failure.isTimeout)
        }
    }
    Session.load(model, loadOptions { library = runtime }).use { session ->
        session.shadow(model, shadowOptions { staysInProcess = true; load = loadOptions { library = runtime } }).use { shadow ->
            shadow.call(1).use { call ->
                call.run()
                check(shadow.flush(1.minutes))
                check(shadow.figures().compared == 1L && !call.wasCanary())
            }
        }
    }
    println("passed")
}
