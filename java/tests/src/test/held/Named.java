import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadFactory;

/** Classes that are asked for by name are those that the source means. */
public class Named {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Of {
        Class<?> value();
    }

    @Of(Thread.class)
    public static class Member {
        public Thread kept;

        public Thread take(Thread t, Thread[] more) {
            return t;
        }
    }

    public static class Local extends ClassLoader {
        Class<?> own(String name) throws ClassNotFoundException {
            return super.loadClass(name, false);
        }
    }

    static String takeLate(BlockingQueue<Object> q) throws Exception {
        Thread t = new Thread(() -> {
            try {
                Thread.sleep(5);
                q.put("put");
            } catch (InterruptedException e) {
                System.out.println(e);
            }
        });
        t.start();
        return (String) q.take();
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] args) throws Throwable {
        Object o = Class.forName("java.lang.Thread").getConstructor(Runnable.class).newInstance((Runnable) () -> System.out.println("ran"));
        Thread t = (Thread) o;
        t.start();
        t.join();
        ClassLoader loader = Named.class.getClassLoader();
        System.out.println(Class.forName("java.lang.Thread") == Thread.class);
        System.out.println(Class.forName("java.lang.Thread", false, null) == Thread.class);
        System.out.println(Class.forName("[[Ljava.lang.Thread;") == Thread[][].class);
        System.out.println(Class.forName("java.util.concurrent.ThreadFactory", true, loader) == ThreadFactory.class);
        System.out.println(loader.loadClass("java.lang.Thread") == Thread.class);
        System.out.println(new Local().loadClass("java.lang.Thread") == Thread.class);
        System.out.println(MethodType.fromMethodDescriptorString("(Ljava/lang/Thread;[Ljava/lang/Thread;)Ljava/lang/Thread;", loader)
            .equals(MethodType.methodType(Thread.class, Thread.class, Thread[].class)));
        System.out.println(MethodHandles.lookup().findVirtual(Member.class, "take", MethodType.fromMethodDescriptorString("(Ljava/lang/Thread;[Ljava/lang/Thread;)Ljava/lang/Thread;", loader))
            .invoke(new Member(), t, null) == t);
        System.out.println(Member.class.getAnnotation(Of.class).value() == Thread.class);
        System.out.println(Member.class.getMethod("take", Thread.class, Thread[].class).getReturnType() == Thread.class);
        System.out.println(Member.class.getField("kept").getType() == Thread.class);
        System.out.println(Thread.class.getMethod("currentThread").invoke(null) == Thread.currentThread());
        System.out.println(Array.newInstance(Class.forName("java.lang.Thread"), 1) instanceof Thread[]);
        System.out.println(takeLate((BlockingQueue<Object>) Class.forName("java.util.concurrent.LinkedBlockingQueue").newInstance()));
        System.out.println(takeLate((BlockingQueue<Object>) Class.forName("java.util.concurrent.ArrayBlockingQueue").getConstructor(int.class).newInstance(1)));
        System.out.println(Class.forName("Named$Member").newInstance() instanceof Member);
        try {
            Class.forName("java.lang.NoThread");
        } catch (ClassNotFoundException e) {
            System.out.println(e.getMessage());
        }
    }
}
